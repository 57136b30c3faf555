//! Requests, answered by any method.

use crate::order::Item;
use crate::packing::pack;
use crate::{Method, Placement, Request, ilp, lwfg, refusal};
use laxity_model::{Diagnostic, Result};

impl Request<'_> {
    /// Places the tasks. A set that does not fit is an error, unless overload is allowed.
    ///
    /// Where it is interrupted, the answer is the best placement of all tasks that there is by then, which only the ILP has; else an
    /// error ([`Diagnostic::interrupted`]).
    pub fn place(&self, method: Method) -> Result<Placement> {
        let found = self.place_or_refuse(method);
        let is_whole = |placement: &Placement| {
            let placed = self.items().iter().filter(|item| placement.assignment[item.id].is_some()).count();
            placed + placement.left_out.len() == self.items().len()
        };
        match found {
            Ok(placement) if is_whole(&placement) => Ok(placement),
            // What an interruption has left out may be the place that was looked for.
            _ if self.is_interrupted() => {
                Err(Diagnostic::interrupted(format!("no placement was found until then (by {method})")))
            }
            found => found,
        }
    }

    fn place_or_refuse(&self, method: Method) -> Result<Placement> {
        let homeless = |item: &Item| {
            !self.is_interrupted() && !(0..self.bins().len()).any(|bin| self.within_affinity(*item, bin))
        };
        if let Some(item) = self.items().into_iter().find(homeless) {
            return Err(refusal::outside_affinity(self, item));
        }
        match method {
            Method::Ilp => ilp::place(self),
            Method::Lwfg(fallback) => lwfg::place(self, fallback),
            Method::Pack(packing) => {
                let packed = pack(self, packing, self.overload());
                match packed.stuck {
                    Some(item) => Err(refusal::stuck(self, method, &packed, item)),
                    None => Ok(Placement {
                        left_out: packed.left_out,
                        ..Placement::new(self, method, packed.filling.assignment(), packed.overloaded)
                    }),
                }
            }
        }
    }

    /// Like [`Request::place`], but saves the time that the reason of a refusal takes. Nothing as well where it was interrupted: the
    /// flag tells.
    pub fn find(&self, method: Method) -> Option<Placement> {
        let Method::Pack(packing) = method else { return self.place(method).ok() };
        let packed = pack(self, packing, self.overload());
        let placed = || {
            let assignment = packed.filling.assignment();
            Placement::new(self, method, assignment, packed.overloaded.clone())
        };
        packed.stuck.is_none().then(placed)
    }
}
