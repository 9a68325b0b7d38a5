//! Rows for further analysis: the same table as JSON lines, as CSV and as Parquet.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde_json::{Map, Value};

/// A column, all of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    Text(Vec<String>),
    Whole(Vec<i64>),
    /// With gaps where there was nothing to measure.
    Number(Vec<Option<f64>>),
}

/// Columns of the same length, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table(Vec<(&'static str, Column)>);

/// One cell of a row on its way into a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Text(String),
    Whole(i64),
    Number(Option<f64>),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Cell {
        Cell::Whole(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Cell {
        Cell::Whole(number)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(Some(number))
    }
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Cell {
        Cell::Number(number)
    }
}

impl Table {
    /// Adds a row. All rows have the same names in the same order.
    pub fn push<const N: usize>(&mut self, row: [(&'static str, Cell); N]) {
        if self.0.is_empty() {
            let empty = |cell: &Cell| match cell {
                Cell::Text(_) => Column::Text(Vec::new()),
                Cell::Whole(_) => Column::Whole(Vec::new()),
                Cell::Number(_) => Column::Number(Vec::new()),
            };
            self.0 = row.iter().map(|(name, cell)| (*name, empty(cell))).collect();
        }
        for ((name, column), (of, cell)) in self.0.iter_mut().zip(row) {
            debug_assert_eq!(*name, of, "rows are alike");
            match (column, cell) {
                (Column::Text(all), Cell::Text(one)) => all.push(one),
                (Column::Whole(all), Cell::Whole(one)) => all.push(one),
                (Column::Number(all), Cell::Number(one)) => all.push(one),
                _ => unreachable!("a column is of one kind"),
            }
        }
    }

    pub fn rows(&self) -> usize {
        self.0.first().map_or(0, |(_, column)| match column {
            Column::Text(all) => all.len(),
            Column::Whole(all) => all.len(),
            Column::Number(all) => all.len(),
        })
    }

    /// Writes it three times over: STEM.jsonl, STEM.csv and STEM.parquet.
    pub fn write(&self, folder: &Path, stem: &str) -> std::io::Result<()> {
        let file = |end: &str| -> std::io::Result<(PathBuf, BufWriter<File>)> {
            let path = folder.join(format!("{stem}.{end}"));
            Ok((path.clone(), BufWriter::new(File::create(path)?)))
        };
        let mut lines = file("jsonl")?.1;
        self.json_lines(&mut lines)?;
        lines.flush()?;
        let mut text = file("csv")?.1;
        self.csv(&mut text)?;
        text.flush()?;
        let (_, columns) = file("parquet")?;
        self.parquet(columns).map_err(std::io::Error::other)
    }

    pub fn json_lines(&self, to: &mut impl Write) -> std::io::Result<()> {
        for row in 0..self.rows() {
            let value = |column: &Column| match column {
                Column::Text(all) => Value::from(all[row].as_str()),
                Column::Whole(all) => all[row].into(),
                Column::Number(all) => all[row].map_or(Value::Null, Into::into),
            };
            let object: Map<String, Value> =
                self.0.iter().map(|(name, column)| ((*name).to_owned(), value(column))).collect();
            serde_json::to_writer(&mut *to, &object)?;
            to.write_all(b"\n")?;
        }
        Ok(())
    }

    pub fn csv(&self, to: &mut impl Write) -> std::io::Result<()> {
        let mut writer = csv::Writer::from_writer(to);
        writer.write_record(self.0.iter().map(|(name, _)| *name))?;
        for row in 0..self.rows() {
            let text = |column: &Column| match column {
                Column::Text(all) => all[row].clone(),
                Column::Whole(all) => all[row].to_string(),
                Column::Number(all) => all[row].map_or(String::new(), |number| number.to_string()),
            };
            writer.write_record(self.0.iter().map(|(_, column)| text(column)))?;
        }
        writer.flush()
    }

    pub fn parquet(&self, to: impl Write + Send) -> Result<(), ParquetError> {
        let field = |(name, column): &(&str, Column)| match column {
            Column::Text(_) => format!("REQUIRED BYTE_ARRAY {name} (UTF8);"),
            Column::Whole(_) => format!("REQUIRED INT64 {name};"),
            Column::Number(_) => format!("OPTIONAL DOUBLE {name};"),
        };
        let fields: String = self.0.iter().map(field).collect();
        let schema = Arc::new(parse_message_type(&format!("message rows {{ {fields} }}"))?);
        // No name of a writer: the same rows are the same bytes.
        let properties =
            WriterProperties::builder().set_compression(Compression::SNAPPY).set_created_by("bardo".to_owned()).build();
        let mut writer = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        for (_, column) in &self.0 {
            put(&mut group, column)?;
        }
        group.close()?;
        writer.close().map(drop)
    }
}

fn put<W: Write + Send>(group: &mut SerializedRowGroupWriter<'_, W>, column: &Column) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else { return Ok(()) };
    match column {
        Column::Text(all) => {
            let bytes: Vec<ByteArray> = all.iter().map(|text| text.as_str().into()).collect();
            writer.typed::<ByteArrayType>().write_batch(&bytes, None, None)?;
        }
        Column::Whole(all) => {
            writer.typed::<Int64Type>().write_batch(all, None, None)?;
        }
        Column::Number(all) => {
            let there: Vec<f64> = all.iter().flatten().copied().collect();
            let levels: Vec<i16> = all.iter().map(|number| i16::from(number.is_some())).collect();
            writer.typed::<DoubleType>().write_batch(&there, Some(&levels), None)?;
        }
    }
    writer.close()
}
