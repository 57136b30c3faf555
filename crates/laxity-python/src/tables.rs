//! Tables as Arrow, in and out without a copy by hand: by the PyCapsule interface, which polars, pandas, pyarrow and DuckDB have.

use arrow_array::cast::AsArray as _;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader as _};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::take::take;
use bytes::Bytes;
use laxity_model::{Diagnostic, Result, ShownPath as _};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};
use std::ffi::CStr;
use std::fmt::Display;
use std::fs::File;
use std::path::PathBuf;

/// Names of capsules, as the interface has them.
const STREAM: &CStr = c"arrow_array_stream";
const SCHEMA: &CStr = c"arrow_schema";

/// A table of columns with names. polars, pyarrow and DuckDB take it as it is, as in `polars.DataFrame(table)`, and pandas by
/// `pandas.DataFrame.from_arrow(table)`.
#[pyclass(frozen, module = "laxity")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Table {
    /// The table as a stream of Arrow. There is one schema, whatever is asked for.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may leave casts to the consumer.
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, SchemaRef::clone(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }

    /// Names and types of its columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(|error| no_table(py, &error))?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// A list of Python's values for each column; None where there is no value.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (at, field) in self.schema.fields().iter().enumerate() {
            let list = PyList::empty(py);
            for batch in &self.batches {
                let column = batch.column(at);
                (0..column.len()).try_for_each(|row| list.append(value(py, column, row)?))?;
            }
            all.set_item(field.name(), list)?;
        }
        Ok(all)
    }

    /// Pickled as a file of Parquet.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let (py, table) = (slf.py(), slf.get());
        let written = py.detach(|| table.to_parquet()).map_err(|error| crate::error(py, &error))?;
        let read = py.import("laxity._laxity")?.getattr("table_of_parquet")?;
        Ok((read, (PyBytes::new(py, &written),)))
    }

    fn __repr__(&self) -> String {
        format!("<laxity.Table: {} rows of {}>", self.__len__(), self.columns().join(", "))
    }
}

impl Table {
    /// Of columns that are all as long.
    pub fn of(columns: Vec<(&str, ArrayRef)>) -> Result<Table> {
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, column)| (name, column, true)),
        );
        let batch = batch.map_err(|error| wrong(&error))?;
        Ok(Table { schema: batch.schema(), batches: vec![batch] })
    }

    /// As a file of Parquet.
    fn to_parquet(&self) -> Result<Vec<u8>> {
        let failed =
            |error: ParquetError| Diagnostic::environment(format!("the table cannot be packed: {error}"));
        let mut file = Vec::new();
        let mut writer =
            ArrowWriter::try_new(&mut file, SchemaRef::clone(&self.schema), None).map_err(failed)?;
        self.batches.iter().try_for_each(|batch| writer.write(batch)).map_err(failed)?;
        writer.close().map_err(failed)?;
        Ok(file)
    }

    /// Reads a file of Parquet; `name` is what errors call it.
    fn of_parquet(file: impl ChunkReader + 'static, name: impl Display) -> Result<Table> {
        let broken =
            |error: &dyn Display| Diagnostic::usage(format!("{name}: not a table of Parquet: {error}"));
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| broken(&error))?;
        let reader = reader.build().map_err(|error| broken(&error))?;
        let schema = reader.schema();
        let batches = reader.collect::<std::result::Result<Vec<_>, _>>().map_err(|error| broken(&error))?;
        Ok(Table { schema, batches })
    }
}

/// A value as one of Python's.
fn value<'py>(py: Python<'py>, column: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    fn number<'py, T: ArrowPrimitiveType>(
        py: Python<'py>,
        column: &ArrayRef,
        row: usize,
    ) -> PyResult<Bound<'py, PyAny>>
    where
        T::Native: IntoPyObjectExt<'py>,
    {
        column.as_primitive::<T>().value(row).into_bound_py_any(py)
    }
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    match column.data_type() {
        DataType::Boolean => Ok(column.as_boolean().value(row).into_bound_py_any(py)?),
        DataType::Int8 => number::<Int8Type>(py, column, row),
        DataType::Int16 => number::<Int16Type>(py, column, row),
        DataType::Int32 => number::<Int32Type>(py, column, row),
        DataType::Int64 => number::<Int64Type>(py, column, row),
        DataType::UInt8 => number::<UInt8Type>(py, column, row),
        DataType::UInt16 => number::<UInt16Type>(py, column, row),
        DataType::UInt32 => number::<UInt32Type>(py, column, row),
        DataType::UInt64 => number::<UInt64Type>(py, column, row),
        DataType::Float32 => number::<Float32Type>(py, column, row),
        DataType::Float64 => number::<Float64Type>(py, column, row),
        other => match text(column, row) {
            Some(text) => Ok(text.into_pyobject(py)?.into_any()),
            None => Err(PyTypeError::new_err(format!("a column of {other} has no values of Python"))),
        },
    }
}

/// A text; nothing in a column of another type.
pub fn text(column: &dyn Array, row: usize) -> Option<&str> {
    match column.data_type() {
        DataType::Utf8 => Some(column.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Some(column.as_string::<i64>().value(row)),
        DataType::Utf8View => Some(column.as_string_view().value(row)),
        _ => None,
    }
}

/// A table of Parquet, such as a results directory has them.
#[pyfunction]
pub fn read_parquet(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    let read = || -> Result<Table> {
        let file = File::open(&path).map_err(|error| {
            Diagnostic::usage(format!("cannot read {}: {error}", path.shown()))
                .hint("is it a table of a results directory?")
        })?;
        Table::of_parquet(file, path.shown())
    };
    py.detach(read).map_err(|error| crate::error(py, &error))
}

/// A table that was pickled.
#[pyfunction]
pub fn table_of_parquet(py: Python<'_>, file: Vec<u8>) -> PyResult<Table> {
    py.detach(|| Table::of_parquet(Bytes::from(file), "a pickled table"))
        .map_err(|error| crate::error(py, &error))
}

/// What an object of Python with a table hands over.
pub struct Source {
    /// Names and types of the columns.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Vec<RecordBatch>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Source {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        let stream = object.getattr("__arrow_c_stream__").map_err(|_| no_stream(&object))?;
        let capsule = stream.call0()?.cast_into::<PyCapsule>()?;
        let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
        // SAFETY: a capsule of this name holds a stream, which is moved out of it: what stays there is a released one.
        let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr()) };
        let reader = reader.map_err(|error| no_table(py, &error))?;
        let schema = reader.schema();
        let batches = reader.map(|batch| unpacked(&batch?)).collect::<std::result::Result<_, _>>();
        let batches =
            batches.map_err(|error| untyped(py, &schema).unwrap_or_else(|| no_table(py, &error)))?;
        Ok(Source { schema, batches })
    }
}

/// Columns of few values, such as pandas' categories, as what they stand for.
fn unpacked(batch: &RecordBatch) -> std::result::Result<RecordBatch, ArrowError> {
    let plain = |column: &ArrayRef| match column.data_type() {
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            take(dictionary.values(), dictionary.keys(), None)
        }
        _ => Ok(ArrayRef::clone(column)),
    };
    let columns = batch.columns().iter().map(plain).collect::<std::result::Result<Vec<_>, _>>()?;
    let names = batch.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    RecordBatch::try_from_iter_with_nullable(
        names.iter().zip(columns).map(|(name, column)| (name, column, true)),
    )
}

/// Columns that have no type cannot be read.
fn untyped(py: Python<'_>, schema: &SchemaRef) -> Option<PyErr> {
    let untyped = schema.fields().iter().filter(|field| field.data_type() == &DataType::Null);
    let names: Vec<String> = untyped.map(|field| format!("`{}`", field.name())).collect();
    let why = format!("the table has columns without values and type: {}", names.join(", "));
    let refused = Diagnostic::usage(why).hint("give them a type, or leave them out");
    (!names.is_empty()).then(|| crate::error(py, &refused))
}

/// What has no table to hand over.
fn no_stream(object: &Borrowed<'_, '_, PyAny>) -> PyErr {
    let kind = object.get_type();
    let name = kind.qualname().map_or_else(|_| "it".to_owned(), |name| name.to_string());
    let hint = match object.hasattr("collect") {
        Ok(true) => "give what its collect() answers",
        _ => {
            "give a DataFrame, or anything with Arrow's stream interface; of a dict of columns, polars.DataFrame(it)"
        }
    };
    crate::error(
        object.py(),
        &Diagnostic::usage(format!("this is no table: {name} has none of Arrow")).hint(hint),
    )
}

fn no_table(py: Python<'_>, error: &ArrowError) -> PyErr {
    crate::error(py, &wrong(error))
}

fn wrong(error: &ArrowError) -> Diagnostic {
    let error = error.to_string();
    let hint = match error.contains("not supported") {
        true => "cast that column: times and sizes to 64-bit integers, names to texts",
        false => "give a DataFrame, or anything with Arrow's stream interface",
    };
    Diagnostic::usage(format!("this is no table: {error}")).hint(hint)
}
