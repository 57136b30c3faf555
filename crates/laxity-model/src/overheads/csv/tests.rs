use super::*;
use proptest::prelude::*;

/// 1000 s.
const MOST: u64 = 1_000_000_000_000;

const COLUMNS: [&str; 4] = ["CXS", "SCHEDULE", "TICK", "STEP"];

fn overheads(text: &str) -> Result<[Option<Monotone<MOST>>; 4]> {
    overheads_from_csv(text, COLUMNS)
}

fn delays(text: &str) -> Result<CacheDelayFunctions<MOST>> {
    cache_delays_from_csv(text)
}

#[test]
fn columns_in_any_order_and_those_of_others() {
    let text = "# us\nTICK, LOCK, TASK-COUNT, CXS\n.5,1,30.0,4\n\n5,1,10,2.0004\n";
    let [cxs, schedule, tick, step] = overheads(text).expect("valid");
    let (cxs, tick) = (cxs.expect("there"), tick.expect("there"));
    assert_eq!([10, 20, 30].map(|n| cxs.at(n)), [2_001, 3_001, 4_000]);
    assert_eq!([10, 20, 30].map(|n| tick.at(n)), [5_000; 3]);
    assert_eq!((schedule, step), (None, None));
}

#[test]
fn a_column_of_others_is_skipped_by_readers_that_do_not_use_it() {
    let text = "TASK-COUNT,STEP,CXS\n1,nonsense,2\n";
    let [cxs] = overheads_from_csv::<MOST, 1>(text, ["CXS"]).expect("valid");
    assert_eq!(cxs.expect("there").at(1), 2_000);
    assert!(overheads(text).expect_err("read here").message.contains("line 2, STEP: `nonsense`"));
}

#[test]
fn cache_delays_by_level() {
    let found = delays("WSS,MEM,L3,L1\n4,10,2,1\n64,100,20,10\n").expect("valid");
    assert_eq!((found.memory.at(64 << 10), found.memory.at(34 << 10)), (100_000, 55_000));
    let levels: Vec<(u32, u64)> = found.levels.iter().map(|(level, f)| (*level, f.at(4 << 10))).collect();
    assert_eq!(levels, [(1, 1_000), (3, 2_000)]);
}

#[test]
fn samples_in_either_unit() {
    assert_eq!(samples_from_csv("us\n1.5\n0.0001\n"), Ok(vec![1_500, 1]));
    assert_eq!(samples_from_csv("# c\nns\n1500\n0.5\n"), Ok(vec![1_500, 1]));
    assert!(samples_from_csv("ms\n1\n").expect_err("unit").message.contains("`ms`"));
    assert!(samples_from_csv("us,us\n1,2\n").expect_err("two").message.contains("`us, us`"));
    assert_eq!(samples_from_csv("us\n1\nx\n").expect_err("x").message.split(':').next(), Some("line 3, us"));
}

#[test]
fn refuses_what_it_does_not_understand() {
    for (text, part) in [
        ("", "there are no values"),
        ("TASK-COUNT,CXS\n", "there are no values"),
        ("TASK-COUNT,CSX\n1,2\n", "line 1: the column `CSX` is not known"),
        ("#\n\nTASK-COUNT,CXS,CXS\n1,2,3\n", "line 3: the column `CXS` is there twice"),
        ("TASK-COUNT,LOCK,LOCK\n1,2,3\n", "line 1: the column `LOCK` is there twice"),
        ("CXS\n2\n", "line 1: there is no column `TASK-COUNT`"),
        ("TASK-COUNT,CXS\n#\n1\n", "line 3: 1 field where the header has 2"),
        ("TASK-COUNT,CXS\n1,-2\n", "line 2, CXS: `-2` is not"),
        ("TASK-COUNT,CXS\n1,2us\n", "line 2, CXS: `2us` is not"),
        ("TASK-COUNT,CXS\n1,1e3\n", "line 2, CXS: `1e3` is not"),
        ("TASK-COUNT,CXS\n1,nan\n", "line 2, CXS: `nan` is not"),
        ("TASK-COUNT,CXS\n1,\n", "line 2, CXS: `` is not"),
        ("TASK-COUNT,CXS\n1,1.2.3\n", "line 2, CXS: `1.2.3` is not"),
        ("TASK-COUNT,CXS\n1,2\n#\n1.0,3\n", "line 4, TASK-COUNT: `1.0` is there twice, first in line 2"),
        ("TASK-COUNT,CXS\n3,2\n1,2\n3,3\n1,2", "line 4, TASK-COUNT: `3` is there twice, first in line 2"),
        ("TASK-COUNT,CXS\n1.5,2\n", "line 2, TASK-COUNT: `1.5` is not a whole number"),
        ("TASK-COUNT,CXS\n1,1000000000.001\n", "line 2, CXS: `1000000000.001` is more than 1000s"),
        ("TASK-COUNT,CXS\n1,99999999999999999999\n", "line 2, CXS: `99999999999999999999` is too large"),
    ] {
        let error = overheads(text).expect_err(text);
        assert!(error.message.starts_with(part) && error.hint.is_some(), "{text}: {error}");
    }
    for (text, part) in [
        ("WSS,L1\n1,2\n", "line 1: there is no column `MEM`"),
        ("MEM,L1\n1,2\n", "line 1: there is no column `WSS`"),
        ("WSS,MEM,L5\n1,2,3\n", "line 1: the column `L5` is not known"),
        ("WSS,MEM\n1,2\n1,3\n", "line 3, WSS: `1` is there twice"),
    ] {
        let error = delays(text).expect_err(text);
        assert!(error.message.starts_with(part) && error.hint.is_some(), "{text}: {error}");
    }
    assert!(overheads("TASK-COUNT,CXS\n1,1000000000\n").is_ok(), "the limit itself");
}

/// A file of overheads in any accepted spelling.
#[derive(Debug, Clone)]
struct Written {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Comments and empty lines before the header, before each row and at the end.
    between: Vec<Vec<&'static str>>,
    line_end: &'static str,
}

impl Written {
    /// The text, and the line of each row.
    fn text(&self) -> (String, Vec<usize>) {
        let (mut lines, mut places) = (Vec::new(), Vec::new());
        let between = |lines: &mut Vec<String>, at: usize| {
            lines.extend(self.between[at].iter().map(|&line| line.to_owned()));
        };
        between(&mut lines, 0);
        lines.push(self.columns.join(", "));
        for (at, row) in self.rows.iter().enumerate() {
            between(&mut lines, at + 1);
            lines.push(row.join(","));
            places.push(lines.len());
        }
        between(&mut lines, self.rows.len() + 1);
        (lines.join(self.line_end), places)
    }
}

prop_compose! {
    fn written()(
        columns in Just(vec!["TASK-COUNT", "CXS", "SCHEDULE", "TICK", "STEP", "LOCK"]).prop_shuffle(),
        counts in proptest::collection::btree_set(0u32..2_000, 1..9),
        between in proptest::collection::vec(
            proptest::collection::vec(prop_oneof![Just(""), Just("# words, words"), Just("#")], 0..3), 10),
        line_end in prop_oneof![Just("\n"), Just("\r\n")],
        values in proptest::collection::vec((0u32..100_000, 0u32..100_000), 50),
    ) -> Written {
        let decimal = |&(whole, part): &(u32, u32)| match part % 3 {
            0 => whole.to_string(),
            _ => format!("{whole}.{part:05}"),
        };
        let mut values = values.iter().map(decimal).cycle();
        let row = |count: u32| {
            let field = |name: &&str| {
                if *name == "TASK-COUNT" { count.to_string() } else { values.next().expect("a value") }
            };
            columns.iter().map(field).collect()
        };
        Written {
            rows: counts.into_iter().map(row).collect(),
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
            between,
            line_end,
        }
    }
}

/// What an error of the readers may be about: a line that there is, or all of the file.
fn is_about_a_line(message: &str, text: &str) -> bool {
    let whole = ["there are no values below the header", "samples have the header"];
    let line = || {
        let (number, _) = message.strip_prefix("line ")?.split_once([':', ','])?;
        number.parse().ok()
    };
    let lines = 1 + text.bytes().filter(|&byte| byte == b'\n' || byte == b'\r').count();
    whole.iter().any(|whole| message.starts_with(whole))
        || line().is_some_and(|line: usize| 1 <= line && line <= lines)
}

laxity_seeds::properties! {
    #![cases(1_000)]

    #[test]
    fn what_is_written_is_read(written in written()) {
        let (text, _) = written.text();
        let functions = overheads(&text).expect("valid");
        let place = |name: &str| written.columns.iter().position(|column| column == name).expect("there");
        for (name, function) in COLUMNS.iter().zip(functions) {
            let function = function.expect("there");
            let mut most = 0;
            for row in &written.rows {
                most = most.max(scaled_up(&row[place(name)], 1_000).expect("valid"));
                prop_assert_eq!(function.at(row[place("TASK-COUNT")].parse().expect("a count")), most);
            }
        }
    }

    #[test]
    fn errors_name_the_line_and_the_column(
        mut written in written(),
        row in any::<prop::sample::Index>(),
        column in any::<prop::sample::Index>(),
        wrong in prop_oneof![
            Just(""), Just("."), Just("-1"), Just("1e3"), Just("nan"), Just("1.2.3"), Just("١"), Just("0x1"),
            Just("1 2"), Just("100000000000.1"), Just("18446744073709551616"),
        ],
    ) {
        let (row, column) = (row.index(written.rows.len()), column.index(written.columns.len()));
        let name = written.columns[column].clone();
        wrong.clone_into(&mut written.rows[row][column]);
        let (text, lines) = written.text();
        let outcome = overheads(&text);
        if name == "LOCK" {
            prop_assert!(outcome.is_ok(), "not read");
        } else {
            let error = outcome.expect_err("wrong");
            let place = format!("line {}, {name}: `{wrong}` ", lines[row]);
            prop_assert!(error.message.starts_with(&place), "{} is not at {}", error, place);
        }
    }

    #[test]
    fn a_field_too_many_or_too_few_is_in_its_line(
        mut written in written(), row in any::<prop::sample::Index>(), more in any::<bool>(),
    ) {
        let row = row.index(written.rows.len());
        let fields = if more { 7 } else { 5 };
        written.rows[row].resize(fields, "1".to_owned());
        let (text, lines) = written.text();
        let error = overheads(&text).expect_err("wrong");
        let wanted = format!("line {}: {} where the header has 6", lines[row], crate::plural(fields, "field"));
        prop_assert_eq!(error.message, wanted);
    }

    #[test]
    fn any_text_is_read_or_refused(
        text in prop_oneof![
            "(?s).{0,60}",
            "[-TASK\\-COUNTCXSWMEL1u,\r\n \"#.0-9]{0,60}",
            "(TASK-COUNT|WSS),(CXS|MEM)[\r\n]{1,3}([0-9.#\"\u{e9}]{0,4}[,\r\n]{1,3}){0,8}",
            "(us|ns)[\r\n]{1,3}([0-9.#\"]{0,4}[,\r\n]{1,3}){0,8}",
        ],
    ) {
        let outcomes = [overheads(&text).err(), delays(&text).err(), samples_from_csv(&text).err()];
        for error in outcomes.into_iter().flatten() {
            prop_assert!(error.hint.is_some() && is_about_a_line(&error.message, &text), "{:?}: {}", text, error);
        }
    }

    #[test]
    fn damaged_files_are_read_or_refused(
        written in written(),
        wounds in proptest::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let mut bytes = written.text().0.into_bytes();
        for (from, to, byte) in wounds {
            let (from, to) = (from.index(bytes.len() + 1), to.index(bytes.len() + 1));
            let wound = from.min(to)..from.max(to).min(from.min(to) + 6);
            match byte % 3 {
                0 => drop(bytes.drain(wound)),
                1 => bytes.splice(wound, [byte]).for_each(drop),
                _ => bytes.splice(wound.start..wound.start, bytes[wound].to_vec()).for_each(drop),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Err(error) = overheads(&text) {
            prop_assert!(error.hint.is_some() && is_about_a_line(&error.message, &text), "{:?}: {}", text, error);
        }
    }
}
