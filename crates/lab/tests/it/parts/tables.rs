//! Tables in the forms they are written in.

use lab::tables::Table;

#[test]
fn the_same_rows_are_the_same_bytes_in_every_form() {
    let mut table = Table::default();
    for (name, number) in [("ada", Some(0.5)), ("ben, the \"second\"", None)] {
        table.push([("name", name.into()), ("ticks", 3_u64.into()), ("skill", number.into())]);
    }
    let folder = tempfile::tempdir().unwrap();
    table.write(folder.path(), "rows").unwrap();
    let read = |end: &str| std::fs::read(folder.path().join(format!("rows.{end}"))).unwrap();
    assert_eq!(
        String::from_utf8(read("jsonl")).unwrap(),
        "{\"name\":\"ada\",\"skill\":0.5,\"ticks\":3}\n{\"name\":\"ben, the \\\"second\\\"\",\"skill\":null,\"ticks\":3}\n"
    );
    assert_eq!(
        String::from_utf8(read("csv")).unwrap(),
        "name,ticks,skill\nada,3,0.5\n\"ben, the \"\"second\"\"\",3,\n"
    );
    let first = read("parquet");
    table.write(folder.path(), "rows").unwrap();
    assert!(first == read("parquet") && first.starts_with(b"PAR1"));
}
