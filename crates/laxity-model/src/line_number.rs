//! Numbers of lines in a CSV file, as an editor counts them.

/// The number of the first line from this byte on that is neither empty nor a comment.
///
/// The reader's own positions are from before it has passed those, and its lines do not count a carriage return.
pub(crate) fn line_from(text: &str, byte: u64, comment: Option<u8>) -> usize {
    let start = usize::try_from(byte).unwrap_or(usize::MAX).min(text.len());
    let mut at = start;
    let bytes = text.as_bytes();
    let ends = |byte: u8| byte == b'\n' || byte == b'\r';
    loop {
        at += bytes[at..].iter().take_while(|&&byte| ends(byte)).count();
        if comment.is_none() || bytes.get(at) != comment.as_ref() {
            break;
        }
        // As the reader has it, a carriage return does not end a comment.
        at += bytes[at..].iter().take_while(|&&byte| byte != b'\n').count();
    }
    let before = &bytes[..at];
    let ended = |(place, &byte): (usize, &u8)| {
        byte == b'\n' || byte == b'\r' && before.get(place + 1) != Some(&b'\n')
    };
    1 + before.iter().enumerate().filter(|&each| ended(each)).count()
}
