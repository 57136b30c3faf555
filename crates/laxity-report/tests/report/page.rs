//! The reports of realistic results, as a reader gets them.

use crate::synthetic::{Noise, SIX, generated, grid, jobs_of, results, rover, run};
use laxity_model::{Duration, OutputDirectory, Task, TaskSet};
use laxity_report::{DeployText, HTML_FILE, MARKDOWN_FILE, PLOTS_DIRECTORY, Report, TextStyle};
use laxity_trace::{Results, Run, RunStatus};

fn deploy() -> Vec<DeployText> {
    vec![DeployText {
        scheduler: "p-edf".into(),
        title: "Commands".into(),
        text: "systemd-run --slice=rt.slice -p AllowedCPUs=1 \\\n    chrt -d -T 800000 -D 10000000 -P 10000000 0 imu".into(),
    }]
}

/// Elements that would make a browser load something, or run something.
fn assert_self_contained(page: &str) {
    for forbidden in ["<script", "<link", "<img", "<iframe", "@import", "url("] {
        assert!(!page.contains(forbidden), "the page has {forbidden}");
    }
    for tag in page.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
        // Names are in values of attributes, escaped.
        let tag: String = tag.split('"').step_by(2).collect();
        assert!(
            !tag.contains("src=") && !tag.contains(" on") && !tag.contains("javascript:"),
            "the page has <{tag}>"
        );
    }
    let links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    for link in links {
        assert!(link.starts_with('#') || link.starts_with("plots/"), "the page links to {link}");
    }
}

fn assert_no_nonsense(text: &str) {
    for nonsense in ["NaN", "inf ", "Infinity", "None", "Some(", "undefined"] {
        assert!(!text.contains(nonsense), "the report says {nonsense}");
    }
}

/// Every opened element is closed in order.
fn assert_well_formed(page: &str) {
    const VOID: [&str; 2] = ["meta", "br"];
    // The style holds no elements, but "<" is no markup in it either.
    let (head, rest) = page.split_once("<style>").expect("a style");
    let body = format!("{head}{}", rest.split_once("</style>").expect("its end").1);
    let mut open: Vec<String> = Vec::new();
    for tag in body.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
        let name: String =
            tag.trim_start_matches('/').chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
        if tag.starts_with('!') {
            continue;
        } else if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name.as_str()), "</{name}> closes something else");
        } else if !tag.ends_with('/') && !VOID.contains(&name.to_ascii_lowercase().as_str()) {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<String>::new());
}

fn page_of(results: &Results) -> String {
    let page = Report::of(results).expect("valid results").html().expect("a page");
    assert_self_contained(&page);
    assert_no_nonsense(&page);
    page
}

#[test]
fn the_page_has_the_answer_the_evidence_and_the_method() {
    let results = rover();
    let report =
        Report::of(&results).expect("valid results").with_deploy(deploy()).with_reading("# Note\n\nRead me.");
    let page = report.html().expect("a page");
    assert_self_contained(&page);
    assert_no_nonsense(&page);
    for wanted in [
        "Deploy p-edf",
        "Before you rely on it",
        "this machine has one cluster: c-rm would be the same as g-rm",
        "interrupted after 4.20 s of 10.0 s: interrupted by the user (SIGINT)",
        "no performance counters",
        "Measured in a virtual machine (kvm)",
        "systemd-run --slice=rt.slice",
        "<h3>Note</h3><p>Read me.</p>",
        "laxity compare rover.toml --duration 10s --repeat 3 --seed 42",
        "Normalized laxity of tasks with the shortest period, rover",
        "Missed deadlines by task and scheduler, rover",
        "CPU 0: load",
    ] {
        assert!(page.contains(wanted), "the page lacks `{wanted}`");
    }
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
}

#[test]
fn pages_are_well_formed() {
    assert_well_formed(&page_of(&rover()));
    assert_well_formed(&page_of(&grid(1, Duration::from_ms(500))));
}

#[test]
fn the_same_results_give_the_same_bytes() {
    let (one, two) = (rover(), rover());
    assert_eq!(page_of(&one), page_of(&two));
    let text = |results| {
        Report::of(results).expect("valid results").text(TextStyle { verbose: true, ..TextStyle::default() })
    };
    assert_eq!(text(&one), text(&two));
}

#[test]
fn nothing_from_the_input_reaches_the_page_as_markup() {
    let evil = "<script>alert('x')</script>";
    let set = TaskSet::new(
        "<img src=x>&\"",
        vec![Task::periodic(evil, Duration::from_ms(1), Duration::from_ms(10))],
    )
    .expect("names may be anything printable");
    let duration = Duration::from_secs(1);
    let jobs = jobs_of(&set, SIX[5], duration, &mut Noise(1));
    let mut run = run(0, "p-rm", 0, duration, jobs);
    run.notes.push("<b>note</b>".into());
    let mut results = results(&[set], vec![run], 2);
    results.machine.host_name = "<i>host".into();
    results.command = vec!["laxity".into(), "<u>".into()];
    results.options.insert("<option>".into(), "</main>".into());
    let report =
        Report::of(&results).expect("valid results").with_reading("<s>reading</s>").with_deploy(vec![
            DeployText { scheduler: "<x>".into(), title: "<y>".into(), text: "</pre><script>".into() },
        ]);
    let page = report.html().expect("a page");
    assert_self_contained(&page);
    for markup in ["<b>note", "<i>host", "<u>", "<option>", "<s>", "<x>", "<y>", "</pre><", "<img"] {
        assert!(!page.contains(markup), "{markup} is markup");
    }
    assert!(page.contains("&lt;script&gt;"), "the name is still shown");
    for plot in report.plots().expect("plots") {
        assert!(!plot.svg.contains("<script") && !plot.svg.contains("<img"), "{}", plot.stem);
    }
}

#[test]
fn text_for_a_file_has_no_escape_sequences_and_text_for_a_terminal_fits_it() {
    let results = rover();
    let report = Report::of(&results).expect("valid results");
    let plain = report.text(TextStyle { verbose: true, ..TextStyle::default() });
    assert!(!plain.contains('\u{1b}'));
    assert!(plain.contains("Deploy p-edf (a tie with 2 others)."));
    assert_no_nonsense(&plain);
    for width in [60, 80, 120, 200] {
        let text = report.text(TextStyle {
            width: Some(width),
            borders: true,
            color: false,
            verbose: true,
            ..TextStyle::default()
        });
        for line in text.lines() {
            assert!(line.chars().count() <= usize::from(width), "width {width}: {line}");
        }
    }
    assert!(
        report
            .text(TextStyle {
                width: Some(100),
                borders: true,
                color: true,
                verbose: true,
                ..TextStyle::default()
            })
            .contains("\u{1b}[1m")
    );
}

#[test]
fn a_name_with_escape_sequences_cannot_write_to_the_terminal() {
    let mut results = rover();
    results.runs[1].status = RunStatus::NotRun { reason: "\u{1b}]0;owned\u{7}".into() };
    results.runs[0].scheduler = "g-\u{1b}[31medf".into();
    let text = Report::of(&results).expect("valid results").text(TextStyle {
        width: Some(100),
        borders: true,
        color: false,
        verbose: true,
        ..TextStyle::default()
    });
    assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'));
}

#[test]
fn a_grid_is_reported_like_table_4() {
    let results = grid(2, Duration::from_secs(2));
    let report = Report::of(&results).expect("valid results");
    let page = page_of(&results);
    for wanted in [
        "Global scheduling, WSS 16 KiB",
        "Partitioned scheduling, WSS 256 KiB",
        "Norm. Laxity",
        "Exp. U",
        "Cont. Switch Rate",
        "Migr. Rate",
        "U/m = 0.8, 8 tasks, WSS 256 KiB (2 sets)",
        "Tasks running alone (Table 3)",
        "Laxity around the deadline by working-set size, U/m = 0.6, 4 tasks",
    ] {
        assert!(page.contains(wanted), "the page lacks `{wanted}`");
    }
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    let markdown = report.markdown();
    assert!(markdown.contains("| U/m | # | Norm. Laxity g-edf | Norm. Laxity g-rm |"), "{markdown}");
    assert_eq!(report.set_recommendations().len(), 36);
}

#[test]
fn many_schedulers_stand_in_rows_on_a_page() {
    let mut results = rover();
    let first = results.runs[0].clone();
    let names = ["g-edf", "g-rm", "edf-bh", "edf-rbt", "fpp"];
    results.runs =
        (0..).zip(names).map(|(id, name)| Run { id, scheduler: name.into(), ..first.clone() }).collect();
    let rows = Report::of(&results).expect("valid results").markdown();
    assert!(rows.contains("| Set | U/m | # | Scheduler | Norm. Laxity | Exp. U |"), "{rows}");
    assert!(page_of(&results).contains(">Scheduler</th>"), "the page has them in rows, too");
    results.runs.pop();
    let columns = Report::of(&results).expect("valid results").markdown();
    assert!(columns.contains("| Set | U/m | # | Norm. Laxity g-edf | Norm. Laxity g-rm |"), "{columns}");
}

#[test]
fn results_of_nothing_are_reported_as_nothing() {
    let set = generated("empty", 3, 600, 0, 0);
    let duration = Duration::from_secs(1);
    let mut not_run = run(0, "g-edf", 0, duration, vec![]);
    not_run.status = RunStatus::NotRun { reason: "needs root".into() };
    for results in [
        results(&[], vec![], 1),
        results(std::slice::from_ref(&set), vec![], 2),
        results(std::slice::from_ref(&set), vec![not_run], 2),
        results(std::slice::from_ref(&set), vec![run(0, "g-edf", 0, duration, vec![])], 2),
    ] {
        let page = page_of(&results);
        assert!(page.contains("</html>"));
        let report = Report::of(&results).expect("valid results");
        assert_no_nonsense(&report.text(TextStyle {
            width: Some(80),
            borders: true,
            color: false,
            verbose: true,
            ..TextStyle::default()
        }));
        assert_no_nonsense(&report.markdown());
    }
}

#[test]
fn everything_is_written_into_the_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let results = rover();
    let report = Report::of(&results).expect("valid results");
    let output = OutputDirectory::open(directory.path()).expect("there");
    report.write(&output).expect("written");
    let page = std::fs::read_to_string(directory.path().join(HTML_FILE)).expect("the page");
    assert_eq!(page, report.html().expect("a page"));
    assert!(directory.path().join(MARKDOWN_FILE).exists());
    for plot in report.plots().expect("plots") {
        let path = directory.path().join(PLOTS_DIRECTORY).join(format!("{}.svg", plot.stem));
        assert_eq!(std::fs::read_to_string(path).expect("the plot"), plot.svg);
    }
    std::fs::remove_file(directory.path().join(HTML_FILE)).expect("removed");
    std::fs::create_dir(directory.path().join(HTML_FILE)).expect("made");
    let error = report.write(&output).expect_err("a directory is no file");
    assert!(error.message.contains("it is a directory"), "{error}");
}
