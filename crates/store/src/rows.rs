//! Many rows in few statements.

use sqlx::any::{Any, AnyArguments};
use sqlx::query::{Query, QueryAs};
use sqlx::{AnyConnection, AssertSqlSafe, Database};

/// A value for a multi-row statement.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    MaybeText(Option<String>),
    Int(i64),
    MaybeInt(Option<i64>),
    MaybeBytes(Option<Vec<u8>>),
}

impl Value {
    /// About as many as it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::MaybeText(text) => text.as_ref().map_or(0, String::len),
            Self::Int(_) | Self::MaybeInt(_) => 8,
            Self::MaybeBytes(bytes) => bytes.as_ref().map_or(0, Vec::len),
        }
    }
}

macro_rules! value_from {
    ($($type:ty => $convert:expr;)+) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                $convert(value)
            }
        })+
    };
}

value_from! {
    &str => |text: &str| Self::Text(text.to_owned());
    &String => |text: &String| Self::Text(text.clone());
    String => Self::Text;
    Option<String> => Self::MaybeText;
    i64 => Self::Int;
    Option<i64> => Self::MaybeInt;
    Option<Vec<u8>> => Self::MaybeBytes;
}

fn bind(
    query: Query<'static, Any, AnyArguments>,
    value: Value,
) -> Query<'static, Any, AnyArguments> {
    match value {
        Value::Text(text) => query.bind(text),
        Value::MaybeText(text) => query.bind(text),
        Value::Int(number) => query.bind(number),
        Value::MaybeInt(number) => query.bind(number),
        Value::MaybeBytes(bytes) => query.bind(bytes),
    }
}

/// Few distinct sizes, so that every statement stays in the connection's cache of prepared ones; powers of two, so that
/// a batch takes few statements, each of which is a round trip.
const CHUNKS: [usize; 9] = [256, 128, 64, 32, 16, 8, 4, 2, 1];

/// Runs `before`, rows of `($1, $2), ($3, $4)`, `after` for all rows in a few statements; returns rows affected.
pub(crate) async fn execute_rows(
    connection: &mut AnyConnection,
    before: &str,
    rows: Vec<Vec<Value>>,
    after: &str,
) -> Result<u64, sqlx::Error> {
    let mut affected = 0;
    let mut left = rows.len();
    let mut rows = rows.into_iter().peekable();
    while let Some(width) = rows.peek().map(Vec::len) {
        let size = CHUNKS.into_iter().find(|size| *size <= left).unwrap_or(1);
        left -= size;
        let sql = format!("{before}{}{after}", placeholders(connection, size, width));
        let mut query = sqlx::query(AssertSqlSafe(sql));
        for value in rows.by_ref().take(size).flatten() {
            query = bind(query, value);
        }
        affected += query.execute(&mut *connection).await?.rows_affected();
    }
    Ok(affected)
}

/// SQLite gets them without numbers: it would look for the name of each among all of them.
fn placeholders(connection: &AnyConnection, rows: usize, width: usize) -> String {
    let numbered = connection.backend_name() != sqlx::Sqlite::NAME;
    written_placeholders(rows, width, numbered)
}

fn written_placeholders(rows: usize, width: usize, numbered: bool) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(rows * width * 6);
    for row in 0..rows {
        text.push_str(if row == 0 { "(" } else { "),(" });
        for column in 0..width {
            text.push_str(if column == 0 { "" } else { "," });
            match numbered {
                true => _ = write!(text, "${}", row * width + column + 1),
                false => text.push('?'),
            }
        }
    }
    text.push(')');
    text
}

/// How many keys a statement for so many has room for. Few sizes, so that few statements are prepared.
fn room_for(keys: usize) -> usize {
    let sizes = [1, 4, 16, 64, 512];
    sizes.into_iter().find(|size| *size >= keys).unwrap_or(512)
}

/// Rows whose key is in a list: `before ($1, $2, ...) after`. The list is filled up with repeats to a few sizes.
pub(crate) async fn select_in<R>(
    connection: &mut AnyConnection,
    before: &str,
    keys: &[String],
    after: &str,
) -> Result<Vec<R>, sqlx::Error>
where
    R: for<'r> sqlx::FromRow<'r, sqlx::any::AnyRow> + Send + Unpin,
{
    let mut found = Vec::new();
    for part in keys.chunks(512) {
        let size = room_for(part.len());
        let sql = format!("{before} in {}{after}", placeholders(connection, 1, size));
        let mut query: QueryAs<'static, Any, R, AnyArguments> = sqlx::query_as(AssertSqlSafe(sql));
        for at in 0..size {
            query = query.bind(part[at.min(part.len() - 1)].clone());
        }
        found.extend(query.fetch_all(&mut *connection).await?);
    }
    Ok(found)
}

/// Rows whose pair of columns is in a list: `before in (values ($1, $2), ...)`.
pub(crate) async fn select_in_pairs<R>(
    connection: &mut AnyConnection,
    before: &str,
    pairs: Vec<(String, String)>,
) -> Result<Vec<R>, sqlx::Error>
where
    R: for<'r> sqlx::FromRow<'r, sqlx::any::AnyRow> + Send + Unpin,
{
    let mut found = Vec::new();
    for part in pairs.chunks(512) {
        let size = room_for(part.len());
        let sql = format!("{before} in (values {})", placeholders(connection, size, 2));
        let mut query: QueryAs<'static, Any, R, AnyArguments> = sqlx::query_as(AssertSqlSafe(sql));
        for at in 0..size {
            let (one, other) = &part[at.min(part.len() - 1)];
            query = query.bind(one.clone()).bind(other.clone());
        }
        found.extend(query.fetch_all(&mut *connection).await?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_count_on_through_the_rows() {
        assert_eq!(written_placeholders(2, 3, true), "($1,$2,$3),($4,$5,$6)");
        assert_eq!(written_placeholders(2, 3, false), "(?,?,?),(?,?,?)");
    }
}
