//! What outputs must be, whatever names are in them: streams, pages, Markdown, images, JSON.

use quick_xml::events::Event;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Output;

/// Characters that a terminal would obey or a reader would not see; written down here a second time, so that a gap in the
/// rule is found.
fn is_seen(c: char) -> bool {
    let code = u32::from(c);
    let control = code < 0x20 && c != '\n' && c != '\t' || (0x7f..0xa0).contains(&code);
    let direction = matches!(code, 0x61c | 0x200e | 0x200f | 0x202a..=0x202e | 0x2066..=0x2069);
    !(control || direction || matches!(code, 0x2028 | 0x2029 | 0xfffe | 0xffff))
}

/// What a text has that it must not have.
pub fn unseen(bytes: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("no UTF-8: {error}"))?;
    match text.char_indices().find(|(_, c)| !is_seen(*c)) {
        None => Ok(()),
        Some((at, c)) => {
            let begin = text[..at].char_indices().rev().nth(60).map_or(0, |(begin, _)| begin);
            Err(format!("U+{:04X} behind {:?}", u32::from(c), &text[begin..at]))
        }
    }
}

/// What both streams of a call must be: shown characters, no line of a name's own, no words of a panic, a known end.
pub fn check_streams(ended: &Output, codes: &[i32]) -> Result<(), String> {
    for stream in [&ended.stdout, &ended.stderr] {
        unseen(stream)?;
        let text = String::from_utf8_lossy(stream);
        if text.lines().any(|line| line == "error: forged") {
            return Err(format!("a name has a line of its own in {text}"));
        }
        if text.contains("panicked at") {
            return Err(format!("a panic: {text}"));
        }
    }
    match ended.status.code() {
        Some(code) if codes.contains(&code) => Ok(()),
        other => Err(format!("ended with {other:?}: {}", String::from_utf8_lossy(&ended.stderr))),
    }
}

/// The elements of a page outside images, how many of each with which attributes. Nothing else begins with `<`.
pub fn elements(page: &str) -> Result<BTreeMap<String, usize>, String> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    let (mut rest, mut in_image) = (page, false);
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let (tag, after) = tag(rest)?;
        let name = tag.split(' ').next().unwrap_or_default().to_owned();
        in_image = (in_image || name == "svg") && name != "/svg";
        if in_image && !SVG.contains(&name.trim_start_matches('/')) {
            return Err(format!("an image has an element {tag}"));
        }
        // How many elements draw an image depends on the length of the words in it.
        if !in_image {
            *found.entry(tag).or_default() += 1;
        }
        rest = after;
        // What is in these is no markup until they end.
        if let "script" | "style" = name.as_str() {
            let end = rest.find(&format!("</{name}")).ok_or(format!("{name} does not end"))?;
            rest = &rest[end..];
        }
    }
    Ok(found)
}

/// What plots consist of.
const SVG: [&str; 9] = ["svg", "title", "text", "rect", "line", "polyline", "path", "circle", "polygon"];

/// A tag without the values of its attributes, and what follows it.
fn tag(text: &str) -> Result<(String, &str), String> {
    let wrong = || format!("no tag: {:?}", text.chars().take(80).collect::<String>());
    let begins = text[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
    if !begins {
        return Err(wrong());
    }
    let (mut tag, mut quote) = (String::new(), None);
    for (at, c) in text.char_indices().skip(1) {
        match (c, quote) {
            ('>', None) => return Ok((tag, &text[at + 1..])),
            ('<', None) => return Err(wrong()),
            ('"', None) => quote = Some(at),
            ('"', Some(_)) => quote = None,
            (c, None) => tag.push(if c.is_whitespace() { ' ' } else { c }),
            (_, Some(_)) => {}
        }
    }
    Err(wrong())
}

/// Whether an image is XML whose elements are those of plots.
pub fn check_svg(text: &str) -> Result<(), String> {
    let mut reader = quick_xml::Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    loop {
        match reader.read_event().map_err(|error| format!("no XML: {error}"))? {
            Event::Eof => return Ok(()),
            Event::Start(start) | Event::Empty(start) => {
                let name = start.name().as_ref().to_owned();
                start.attributes().try_for_each(|one| one.map(drop).map_err(|error| error.to_string()))?;
                if !SVG.contains(&name.as_str()) {
                    return Err(format!("an element {name}"));
                }
            }
            _ => {}
        }
    }
}

/// Whether Markdown has no element, link or image but plots, and no fence.
pub fn check_markdown(text: &str) -> Result<(), String> {
    for line in text.lines() {
        let line_without_plots = if line.starts_with("![") && line.ends_with(".svg)") {
            line.replacen("](plots/", "", 1)
        } else {
            line.to_owned()
        };
        let escaped_away = line_without_plots.replace("\\\\", "");
        for wrong in ["<", "](", "]:", "][", "://", "www.", "```", "~~~"] {
            let mut places = escaped_away.match_indices(wrong);
            if places.any(|(at, _)| !escaped_away[..at].ends_with('\\')) {
                return Err(format!("{wrong} in {line}"));
            }
        }
        let begins = line.trim_start_matches("- ");
        if begins.starts_with("> ") || begins.starts_with("# heading") {
            return Err(format!("a name begins a block: {line}"));
        }
    }
    Ok(())
}

/// Checks every file of a directory by its ending. Data is JSON that parses; it may have any character.
pub fn check_files(directory: &Path) -> Result<(), String> {
    let mut open = vec![directory.to_owned()];
    while let Some(folder) = open.pop() {
        for path in
            fs::read_dir(&folder).map_err(|error| error.to_string())?.flatten().map(|entry| entry.path())
        {
            if path.is_dir() {
                open.push(path);
                continue;
            }
            check_file(&path).map_err(|wrong| format!("{}: {wrong}", path.display()))?;
        }
    }
    Ok(())
}

fn check_file(path: &Path) -> Result<(), String> {
    let read = || fs::read_to_string(path).map_err(|error| error.to_string());
    match path.extension().and_then(OsStr::to_str) {
        Some("html") => elements(&read()?).map(drop).and_then(|()| unseen(read()?.as_bytes())),
        Some("md") => check_markdown(&read()?).and_then(|()| unseen(read()?.as_bytes())),
        Some("svg") => check_svg(&read()?).and_then(|()| unseen(read()?.as_bytes())),
        Some("sh" | "txt" | "csv" | "c" | "rs" | "py" | "yaml" | "service" | "target" | "slice") => {
            unseen(read()?.as_bytes())
        }
        Some("json") => {
            serde_json::from_str::<serde_json::Value>(&read()?).map(drop).map_err(|error| error.to_string())
        }
        _ => Ok(()),
    }
}
