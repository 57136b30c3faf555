import subprocess,re
subprocess.check_call(['git','mv','crates/laxity-study/src/counted.rs','crates/laxity-trace/src/metrics/hardware.rs'])
def sub(f,*prs):
    t=open(f).read()
    for a,b in prs:
        assert t.count(a)==1,(f,a,t.count(a))
        t=t.replace(a,b)
    open(f,'w').write(t)
T='crates/laxity-trace/src/'
S='crates/laxity-study/src/'
f=T+'metrics/hardware.rs'
t=open(f).read()
t=t.replace('''//! What is known of sets that are really run, and not simulated: above all what hardware counts (lindsay2012, 6.2.1 and 6.2.2).

use laxity_trace::Job;
''','''//! What hardware counts of jobs that are really run, and not simulated (lindsay2012, 6.2.1 and 6.2.2).

use crate::Job;
''').replace('Counted','HardwareCounts').replace('''    /// The execution-time inflation of the same set in the same repetition under the study's first curve.
    pub inflation_of_first: Option<f64>,
''','').replace('''#[expect(clippy::cast_precision_loss, reason = "to be shown")]
fn shown''','''/// The IPC of a run relative to another one of the same jobs, from the execution-time inflation of both: the instructions are the
/// same, so it is the other's inflation by this one's. Nothing if this one's is none.
pub fn relative_ipc(inflation: f64, inflation_of_other: f64) -> Option<f64> {
    (inflation > 0.0).then(|| inflation_of_other / inflation)
}

#[expect(clippy::cast_precision_loss, reason = "to be shown")]
fn shown''').replace('use laxity_trace::{Counters, JobOutcome};','use crate::{Counters, JobOutcome};').rstrip()
assert t.endswith('}')
t=t[:-1]+'''
    #[test]
    fn a_run_that_is_inflated_twice_as_much_has_half_the_ipc() {
        assert_eq!(relative_ipc(3.0, 1.5), Some(0.5));
        assert_eq!(relative_ipc(0.0, 1.5), None, "a run without work has none");
    }
}
'''
open(f,'w').write(t)
sub(T+'metrics/mod.rs',('mod followed_caches;\n','mod followed_caches;\nmod hardware;\n'),('pub use followed_caches::CacheSummary;\n','pub use followed_caches::CacheSummary;\npub use hardware::{HardwareCounts, relative_ipc};\n'),
('''//! | `tardiness_histogram`''','''//! | `ipc`, `llc_miss_rate` as counted | | | [`HardwareCounts`]: instructions / cycles, misses / accesses, over all jobs |
//! | `tardiness_histogram`'''))
sub(S+'outcomes.rs',('use crate::counted::Counted;\n',''),('use laxity_trace::{Efficiency, RunSummary','use laxity_trace::{Efficiency, HardwareCounts, RunSummary'),
('    pub counted: Counted,','    pub counted: HardwareCounts,\n    /// Where it was run: the execution-time inflation of the same set in the same repetition under the first curve.\n    pub inflation_of_first: Option<f64>,'))
sub(S+'lib.rs',('mod counted;\n',''),('pub use counted::Counted;\n',''))
t=open(S+'runs.rs').read()
t=t.replace('use crate::counted::Counted;\n','').replace('''            let own = one.summary.rates.execution_inflation.filter(|&own| own > 0.0)?;
            Some(one.counted.inflation_of_first? / own)
''','''            relative_ipc(one.summary.rates.execution_inflation?, one.inflation_of_first?)
''').replace('one.counted.inflation_of_first','one.inflation_of_first')
t=t.replace('use laxity_trace::{Efficiency, Moments','use laxity_trace::{Efficiency, HardwareCounts, Moments').replace('TardinessHistogram};','TardinessHistogram, relative_ipc};',1).replace('Counted::','HardwareCounts::')
open(S+'runs.rs','w').write(t)
t=open(S+'simulations/sampler.rs').read()
t=t.replace('use crate::counted::Counted;\n','').replace('counted: Counted::default(),','counted: HardwareCounts::default(),\n            inflation_of_first: None,')
open(S+'simulations/sampler.rs','w').write(t)
