//! A set's provenance makes the same set again, and parameters are read as they are documented.

use laxity_generate::{
    COMMON_PARAMETERS, Decimal, Emberson, Fallback, GENERATORS, Generator, Parameters, Request, UUniFast,
    Unc, UncSize, Waters, generate, regenerate,
};
use proptest::prelude::*;

fn parameters(pairs: &[(&str, &str)]) -> Parameters {
    pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn request(generator: &str, pairs: &[(&str, &str)]) -> Request {
    Request::from_parameters(generator, 42, &parameters(pairs)).expect("valid")
}

/// Generators with parameters that use every option.
const REQUESTS: &[(&str, &[(&str, &str)])] = &[
    (
        "emberson",
        &[("tasks", "9"), ("utilization", "3.25"), ("periods", "uni-moderate"), ("granularity", "2ms")],
    ),
    (
        "emberson",
        &[("tasks", "12"), ("utilization", "2.8"), ("rescale-cores", "4"), ("rescale-wcet-min", "70us")],
    ),
    (
        "uunifast",
        &[
            ("tasks", "9"),
            ("utilization", "2.123456789"),
            ("periods", "uniform:1ms,1s"),
            ("granularity", "500us"),
        ],
    ),
    ("unc", &[("tasks", "5"), ("utilizations", "bimo-heavy"), ("periods", "logunif-short")]),
    ("unc", &[("tasks", "40"), ("utilizations", "uni-light"), ("rescale-above", "0.9")]),
    ("unc", &[("utilization", "2.5"), ("last", "squeeze"), ("utilizations", "exponential:0.3")]),
    ("unc", &[("utilization", "2.5"), ("utilizations", "uniform:0.1,0.2"), ("granularity", "500us")]),
    ("waters", &[]),
    (
        "waters",
        &[("runnables", "300"), ("utilization", "2"), ("task-utilization-max", "0.5"), ("demand", "acet")],
    ),
    ("mtt", &[("distribution", "mwlp"), ("utilization", "6")]),
    ("mtt", &[("distribution", "mlu"), ("utilization", "2.5"), ("granularity", "500us"), ("shared", "0.4")]),
    ("calandrino2007", &[("tasks", "7"), ("requirement", "0.5"), ("slowest", "0.25")]),
];

const COMMON: [&[(&str, &str)]; 3] = [
    &[],
    &[("deadlines", "constrained:0.3"), ("phases", "uniform"), ("arrivals", "sporadic")],
    &[("deadlines", "arbitrary:2.5"), ("wss", "16KiB,100B"), ("read-write", "1:2"), ("access", "random")],
];

laxity_seeds::properties! {
    #[test]
    fn a_set_is_made_again_from_its_provenance(seed: u64, index: u64, which in 0..REQUESTS.len(), common in 0..COMMON.len()) {
        let (generator, own) = REQUESTS[which];
        let mut pairs: Vec<_> = own.iter().chain(COMMON[common]).copied().collect();
        // Working sets of the one and first releases of the other are their own.
        pairs.retain(|pair| !matches!((generator, pair.0), ("mtt", "wss") | ("calandrino2007", "phases")));
        let request = Request::from_parameters(generator, seed, &parameters(&pairs)).expect("valid");
        prop_assert_eq!(&Request::from_parameters(generator, seed, &request.parameters()), &Ok(request.clone()));
        let set = generate(&request, index).expect("set");
        let provenance = set.provenance().expect("generated");
        prop_assert_eq!((provenance.seed, provenance.index, provenance.rng.as_str()), (seed, index, "pcg64"));
        prop_assert_eq!(regenerate(provenance), Ok(set.clone()));
    }
}

#[test]
fn every_given_parameter_is_in_the_provenance() {
    for &(generator, own) in REQUESTS {
        let given: Vec<&str> = own.iter().map(|(name, _)| *name).collect();
        let written = request(generator, own).parameters();
        assert!(given.iter().all(|&name| written.contains_key(name)), "{generator} {given:?}: {written:?}");
        assert!(COMMON_PARAMETERS.iter().all(|parameter| written.contains_key(parameter.name)));
    }
}

/// Own parameters are given somewhere above: what one reads and another writes would not come back.
#[test]
fn every_parameter_of_every_generator_is_tried() {
    for known in GENERATORS {
        for parameter in known.parameters {
            let tried = REQUESTS.iter().any(|(generator, own)| {
                *generator == known.name && own.iter().any(|(name, _)| *name == parameter.name)
            });
            assert!(tried, "`{}` of `{}`: add it to REQUESTS", parameter.name, known.name);
        }
    }
}

#[test]
fn the_defaults_by_name_are_those_of_the_types() {
    let typed = |generator| Request { generator, common: Default::default(), seed: 42 };
    let total: Decimal = "2.5".parse().expect("decimal");
    let sized: &[(&str, &str)] = &[("tasks", "4"), ("utilization", "2.5")];
    assert_eq!(request("emberson", sized), typed(Generator::from(Emberson::new(4, total))));
    assert_eq!(request("uunifast", sized), typed(Generator::from(UUniFast::new(4, total))));
    let [medium, moderate] = ["uni-medium", "uni-moderate"];
    let unc = Unc::new(UncSize::Tasks(4), medium.parse().expect("named"), moderate.parse().expect("named"));
    assert_eq!(request("unc", &[("tasks", "4")]), typed(Generator::from(unc)));
    assert_eq!(request("waters", &[]), typed(Generator::from(Waters::new(100))));
}

#[test]
fn required_parameters_are_asked_for_and_the_rest_is_not() {
    for generator in GENERATORS {
        let required: Vec<&str> = generator
            .parameters
            .iter()
            .filter(|p| p.fallback == Fallback::Required)
            .map(|p| p.name)
            .collect();
        let result = Request::from_parameters(generator.name, 1, &Parameters::new());
        match (required.as_slice(), generator.name) {
            ([], "unc") => {
                assert!(result.expect_err("one of two").message.contains("either `tasks` or `utilization`"))
            }
            ([], _) => assert!(result.is_ok(), "{}", generator.name),
            (names, _) => {
                let needs = format!("needs the parameter `{}`", names[0]);
                assert!(result.expect_err("required").message.contains(&needs), "{}", generator.name);
            }
        }
    }
}

#[test]
fn bad_parameters_are_explained() {
    let message = |generator: &str, pairs: &[(&str, &str)]| {
        let error = Request::from_parameters(generator, 1, &parameters(pairs)).expect_err("must be refused");
        assert!(error.hint.is_some(), "{}", error.message);
        error.message
    };
    let sized =
        |name: &'static str, value: &'static str| [("tasks", "4"), ("utilization", "2"), (name, value)];
    assert!(message("gauss", &[]).contains("generator `gauss` is not known"));
    assert!(message("emberson", &sized("colour", "red")).contains("has no parameter `colour`"));
    assert!(message("uunifast", &sized("rescale-cores", "2")).contains("has no parameter `rescale-cores`"));
    assert!(
        message("emberson", &[("tasks", "-1"), ("utilization", "2")]).contains("parameter `tasks`: `-1`")
    );
    assert!(
        message("emberson", &[("tasks", "4"), ("utilization", "nan")]).contains("parameter `utilization`")
    );
    assert!(message("emberson", &sized("granularity", "1")).contains("no unit"));
    assert!(message("emberson", &sized("rescale-wcet-min", "1us")).contains("without `rescale-cores`"));
    assert!(message("emberson", &sized("wss", "16")).contains("parameter `wss`"));
    assert!(message("emberson", &sized("read-write", "4")).contains("not a read:write ratio"));
    assert!(message("emberson", &sized("access", "backwards")).contains("access `backwards` is not known"));
    assert!(message("emberson", &sized("phases", "odd")).contains("`odd`"));
    assert!(message("unc", &sized("last", "drop")).contains("either"));
    assert!(message("unc", &[("utilization", "2"), ("rescale-above", "1")]).contains("never above"));
}

#[test]
fn a_set_of_another_generator_version_is_not_made_up() {
    let set = generate(&request("waters", &[]), 0).expect("set");
    let mut provenance = set.provenance().expect("generated").clone();
    provenance.rng = "mt19937".into();
    assert!(regenerate(&provenance).expect_err("other rng").message.contains("mt19937"));
}
