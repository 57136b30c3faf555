//! Ctrl-C and SIGTERM: finish what was measured; the second time, leave at once.

use crate::within;
use laxity_model::{Diagnostic, Result};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// A flag that becomes true when a signal asks this program to end. A second request ends it at once, with the
/// guardian putting the host back.
pub fn flag() -> Result<&'static AtomicBool> {
    if let Some(flag) = within::stop() {
        return Ok(flag);
    }
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    if let Some(flag) = FLAG.get() {
        return Ok(flag);
    }
    let flag = Arc::new(AtomicBool::new(false));
    let code = i32::from(crate::output::INTERRUPTED);
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        // The order matters: the conditional shutdown looks at the flag before this request sets it.
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .map_err(|error| Diagnostic::environment(format!("cannot handle signal {signal}: {error}")))?;
    }
    Ok(FLAG.get_or_init(|| flag))
}
