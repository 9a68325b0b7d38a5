//! Requests as they come off a line, and what every double answers them with.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// The largest body that is read.
const LARGEST: usize = 256 << 20;

pub(crate) struct Request {
    /// The request line and the headers, as they were written.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
    }

    /// The method and the target of the request line.
    pub(crate) fn line(&self) -> (&str, &str) {
        let mut words = self.head.split_whitespace();
        (words.next().unwrap_or_default(), words.next().unwrap_or_default())
    }
}

/// The next request; none where the client has hung up.
pub(crate) fn request(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut head = String::new();
    loop {
        let start = head.len();
        if reader.read_line(&mut head)? == 0 {
            return Ok(None);
        }
        if head[start..].trim().is_empty() {
            break;
        }
    }
    let mut request = Request { head, body: Vec::new() };
    if request.header("expect").is_some() {
        reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    if request.header("transfer-encoding").is_some_and(|kind| kind.eq_ignore_ascii_case("chunked")) {
        request.body = chunked(reader)?;
    } else if let Some(length) = request.header("content-length") {
        request.body = vec![0; bounded(length.parse().unwrap_or(0))?];
        reader.read_exact(&mut request.body)?;
    }
    Ok(Some(request))
}

fn bounded(length: usize) -> io::Result<usize> {
    if length > LARGEST { Err(io::Error::other("the body is too large")) } else { Ok(length) }
}

fn chunked(reader: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let (mut body, mut line) = (Vec::new(), String::new());
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(io::Error::other)?;
        let start = body.len();
        body.resize(bounded(start.saturating_add(size))?, 0);
        reader.read_exact(&mut body[start..])?;
        line.clear();
        reader.read_line(&mut line)?;
        if size == 0 {
            return Ok(body);
        }
    }
}
