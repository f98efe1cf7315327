//! Results as a page, with a plot whose points can be pointed at.

use serde_json::{Value, json};
use weir::report::page::Page;

use crate::rows::Row;

/// The rows as a page. Its data has the columns of the CSV.
pub fn html(rows: &[Row]) -> String {
    let row = |row: &Row| -> Value {
        json!({
            "program": row.program,
            "model": row.model,
            "engine": row.engine,
            "answered": row.run.answered,
            "verdicts": row.run.verdicts.join(" "),
            "exact": row.run.exact,
            "configurations": row.run.configurations,
            "seconds": row.run.seconds,
            "peak_mib": row.run.peak,
            "instructions": row.instructions,
            "spin_states": row.spin.as_ref().map(|s| s.states),
            "spin_seconds": row.spin.as_ref().map(|s| s.seconds),
        })
    };
    let rows: Vec<Value> = rows.iter().map(row).collect();
    let mut page = Page::new("bench");
    page.printed("weir-bench", &json!({ "schema": "weir-bench-2", "rows": rows }).to_string());
    page.html()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;

    #[test]
    fn a_page_has_the_columns_of_the_csv() {
        let row = rows::read_csv(
            "program,model,engine,answered,verdicts,exact,configurations,seconds\n\
             a<b,TSO,auto,views,holds violated,true,7,0.5\n",
        );
        let page = html(&row.unwrap());
        let start = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
        let end = start + page[start..].find("</script>").unwrap();
        let data: Value = serde_json::from_str(&page[start..end]).unwrap();
        let row = data["reports"][0]["rows"][0].as_object().unwrap();
        assert_eq!(row["program"], "a<b");
        let columns: Vec<&str> = row.keys().map(String::as_str).collect();
        let mut expected = rows::COLUMNS.to_vec();
        expected.sort_unstable();
        assert_eq!(columns, expected);
    }
}
