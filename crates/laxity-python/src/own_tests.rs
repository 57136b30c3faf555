//! Schedulability tests that are functions of Python, beside those of the catalogue.

use crate::asked::{Asked, Turn};
use laxity_analysis::{
    Citation, Exactness, Guarantee, Priorities, Source, SporadicTask, Test, TestInfo, Theorem, Verdict, Work,
    catalogue,
};
use laxity_model::{Diagnostic, Names, check_own_name};
use laxity_program::call::Stop;
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// A test of Python's. It lives as long as the process, as those of the catalogue do.
pub struct PythonTest {
    pub info: TestInfo,
    function: Py<PyAny>,
    pub turn: Turn,
    /// What tells one version of it from another (`laxity._versions.Version`).
    pub version: Py<PyAny>,
}

/// The same in one call of laxity, which ends with what the function raises.
pub struct OfCall {
    test: &'static PythonTest,
    stop: Stop,
    asked: Asked,
}

impl PythonTest {
    /// The test in a call: what the function raises goes there, and the call is asked for its end. A hundred bytes stay for each.
    pub fn of_call(&'static self, stop: Stop, asked: Asked) -> &'static OfCall {
        Box::leak(Box::new(OfCall { test: self, stop, asked }))
    }

    fn ask(
        &self,
        (py, asked): (Python<'_>, &Asked),
        tasks: &[SporadicTask],
        processors: u32,
    ) -> PyResult<Verdict> {
        let kind = py.import("laxity._tasks")?.getattr("SporadicTask")?;
        let task = |task: &SporadicTask| {
            kind.call1((task.wcet_ns, task.deadline_rel_ns, task.period_ns, task.jitter_ns))
        };
        let tasks = tasks.iter().map(task).collect::<PyResult<Vec<_>>>()?;
        let answer = asked.call(self.function.bind(py), (tasks, processors))?;
        if answer.is_none() {
            return Ok(Verdict::needs("what this test assumes of tasks", None));
        }
        // Anything else would count as proven, such as the coroutine of an async function.
        let is_bool = answer.is_instance_of::<PyBool>()
            || answer.get_type().qualname()?.to_string().starts_with("bool");
        if !is_bool {
            let why =
                format!("the test `{}` answered {}, not True, False or None", self.info.name, answer.repr()?);
            let hint = "return True where it proves the tasks, False where it does not, None where it does not apply";
            return Err(crate::error(py, &Diagnostic::usage(why).hint(hint)));
        }
        Ok(if answer.is_truthy()? { Verdict::SCHEDULABLE } else { Verdict::FAILS })
    }
}

impl Test for OfCall {
    fn info(&self) -> &'static TestInfo {
        &self.test.info
    }

    fn verdict(&self, tasks: &[SporadicTask], processors: u32, work: &mut Work) -> Result<Verdict, Verdict> {
        work.take(1)?;
        let answer =
            self.asked.ask(&self.test.turn, |py| self.test.ask((py, &self.asked), tasks, processors));
        Ok(answer.unwrap_or_else(|error| {
            // First the end: a set during which it was asked for does not count.
            self.stop.ask();
            self.asked.keep(error);
            Verdict::FAILS
        }))
    }
}

/// A schedulability test that is a function of Python (`laxity.own_test`).
#[pyclass(frozen, module = "laxity")]
pub struct OwnTest(pub &'static PythonTest);

const PRIORITIES: [(&str, Priorities); 5] = [
    ("edf", Priorities::EarliestDeadlineFirst),
    ("edzl", Priorities::ZeroLaxity),
    ("g-fl", Priorities::FairLateness),
    ("fixed", Priorities::Fixed),
    ("pfair", Priorities::Pfair),
];
const GUARANTEES: [(&str, Guarantee); 2] = [("hard", Guarantee::Hard), ("soft", Guarantee::Soft)];

#[pymethods]
impl OwnTest {
    #[new]
    fn new(
        py: Python<'_>,
        name: &str,
        function: Py<PyAny>,
        priorities: &str,
        guarantee: &str,
        exact: bool,
        source_and_version: (String, Py<PyAny>),
    ) -> PyResult<Self> {
        let wrong = |error: Diagnostic| crate::error(py, &error);
        check_own_name("test name", name).map_err(wrong)?;
        if catalogue::test(name).is_some() {
            return Err(wrong(
                Diagnostic::usage(format!("test name `{name}`: a test of the catalogue has it"))
                    .hint("give your own test another name"),
            ));
        }
        let priorities = one_of("priorities", &PRIORITIES, priorities).map_err(wrong)?;
        let guarantee = one_of("guarantee", &GUARANTEES, guarantee).map_err(wrong)?;
        let (source, version) = source_and_version;
        let lasting = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let citation =
            Citation { paper: lasting(&source), theorem: Theorem::Unnumbered("a function of Python") };
        let info = TestInfo {
            name: lasting(name),
            source: Source::Papers(Box::leak(Box::new([citation]))),
            priorities,
            guarantee,
            exactness: if exact { Exactness::Exact } else { Exactness::Sufficient },
            complexity: "a function of Python",
            assumptions: &[],
        };
        Ok(OwnTest(Box::leak(Box::new(PythonTest { info, function, turn: Turn::default(), version }))))
    }

    /// By what curves of studies name it.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.info.name
    }

    #[getter(_version)]
    fn version(&self, py: Python<'_>) -> Py<PyAny> {
        self.0.version.clone_ref(py)
    }

    /// What it proves.
    #[getter]
    fn guarantee(&self) -> &'static str {
        let of = |(_, guarantee): &&(&'static str, Guarantee)| *guarantee == self.0.info.guarantee;
        GUARANTEES.iter().find(of).map_or("", |(name, _)| name)
    }

    fn __repr__(&self) -> String {
        format!("<laxity.OwnTest {:?}, {}>", self.name(), self.guarantee())
    }
}

fn one_of<T: Copy>(what: &'static str, all: &[(&'static str, T)], text: &str) -> Result<T, Diagnostic> {
    let known = all.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    known.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        Names::of(what, &names).unknown(text)
    })
}
