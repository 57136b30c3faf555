//! The values of one column of the row group being gathered.

use crate::Job;
use parquet::data_type::ByteArray;

/// A number that does not fit its column, and the place of its job.
pub(super) struct Unfit {
    pub(super) job: usize,
    pub(super) value: u64,
}

/// Numbers, and for a column that can be null 1 for a row that has one and 0 for another.
#[derive(Debug)]
pub(super) struct Numbers<T> {
    pub(super) values: Vec<T>,
    pub(super) levels: Vec<i16>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Numbers { values: Vec::new(), levels: Vec::new() }
    }
}

impl<T: Copy + PartialEq> Numbers<T> {
    /// The number of every job.
    #[inline]
    pub(super) fn extend<N: Fits<T>>(&mut self, jobs: &[Job], get: impl Fn(&Job) -> N) -> Result<(), Unfit> {
        // Without a branch for each job; which of them does not fit is looked for only if one does not.
        let mut all_fit = true;
        self.values.extend(jobs.iter().map(|job| {
            let number = get(job);
            all_fit &= number.fits();
            number.wrapped()
        }));
        match all_fit {
            true => Ok(()),
            false => Err(unfit(jobs, |job| Some(get(job)))),
        }
    }

    /// The number of every job that has one.
    #[inline]
    pub(super) fn extend_known<N: Fits<T> + Default>(
        &mut self,
        jobs: &[Job],
        get: impl Fn(&Job) -> Option<N>,
    ) -> Result<(), Unfit> {
        let mut known = 0;
        self.levels.extend(jobs.iter().map(|job| {
            let level = i16::from(get(job).is_some());
            known += usize::from(level > 0);
            level
        }));
        if known == jobs.len() {
            return self.extend(jobs, |job| get(job).unwrap_or_default());
        }
        if known > 0 {
            let numbers = || jobs.iter().filter_map(&get);
            self.values.extend(numbers().map(Fits::wrapped));
            if !numbers().all(Fits::fits) {
                return Err(unfit(jobs, get));
            }
        }
        Ok(())
    }

    /// The number that all `rows` rows have: `Some(None)` if all are null.
    pub(super) fn constant(&self, rows: usize) -> Option<Option<T>> {
        match self.values.first() {
            None if rows > 0 => Some(None),
            Some(&first) if self.values.len() == rows && self.values.iter().all(|value| *value == first) => {
                Some(Some(first))
            }
            _ => None,
        }
    }

    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.levels.clear();
    }
}

impl Numbers<i64> {
    /// The signed number of every job that has one.
    pub(super) fn extend_signed(&mut self, jobs: &[Job], get: impl Fn(&Job) -> Option<i64>) {
        self.levels.extend(jobs.iter().map(|job| i16::from(get(job).is_some())));
        self.values.extend(jobs.iter().filter_map(get));
    }
}

/// The first number that does not fit, of which there is one.
#[cold]
fn unfit<T, N: Fits<T>>(jobs: &[Job], get: impl Fn(&Job) -> Option<N>) -> Unfit {
    let of_job = |(job, number): (usize, Option<N>)| {
        let number = number.filter(|number| !number.fits())?;
        Some(Unfit { job, value: number.value() })
    };
    jobs.iter().map(get).enumerate().find_map(of_job).expect("there is one")
}

/// Unsigned numbers, and the signed ones of a column.
pub(super) trait Fits<T>: Copy {
    /// Whether it is no larger than the largest signed one.
    fn fits(self) -> bool;
    /// The signed one with the same bits.
    fn wrapped(self) -> T;
    /// To be shown.
    fn value(self) -> u64;
}

impl Fits<i32> for u32 {
    fn fits(self) -> bool {
        self <= i32::MAX.cast_unsigned()
    }
    fn wrapped(self) -> i32 {
        self.cast_signed()
    }
    fn value(self) -> u64 {
        self.into()
    }
}

impl Fits<i64> for u64 {
    fn fits(self) -> bool {
        self <= i64::MAX.cast_unsigned()
    }
    fn wrapped(self) -> i64 {
        self.cast_signed()
    }
    fn value(self) -> u64 {
        self
    }
}

/// Words out of few: neighbours that are the same are kept once, with their number. A null is no word.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) stretches: Vec<(Option<ByteArray>, usize)>,
}

impl Words {
    /// The word of every job: `word` of its `key`.
    pub(super) fn extend<K: PartialEq>(
        &mut self,
        jobs: &[Job],
        key: impl Fn(&Job) -> K,
        word: impl Fn(K) -> ByteArray,
    ) {
        self.extend_known(jobs, |job| Some(key(job)), word);
    }

    /// The word of every job that has a key.
    pub(super) fn extend_known<K: PartialEq>(
        &mut self,
        jobs: &[Job],
        key: impl Fn(&Job) -> Option<K>,
        word: impl Fn(K) -> ByteArray,
    ) {
        for same in jobs.chunk_by(|one, next| key(one) == key(next)) {
            self.repeat(key(&same[0]).map(&word), same.len());
        }
    }

    /// The same word for the next rows.
    pub(super) fn repeat(&mut self, word: Option<ByteArray>, rows: usize) {
        match self.stretches.last_mut() {
            Some((last, count)) if *last == word => *count += rows,
            _ => self.stretches.push((word, rows)),
        }
    }

    /// The word that all rows have: `Some(None)` if all are null.
    pub(super) fn constant(&self) -> Option<Option<&ByteArray>> {
        match &self.stretches[..] {
            [(word, _)] => Some(word.as_ref()),
            _ => None,
        }
    }

    /// The words one by one, and for each row whether it has one, as 1 or 0.
    pub(super) fn spread(&self) -> (Vec<ByteArray>, Vec<i16>) {
        let (mut words, mut levels) = (Vec::new(), Vec::new());
        for (word, rows) in &self.stretches {
            levels.resize(levels.len() + rows, i16::from(word.is_some()));
            if let Some(word) = word {
                words.resize(words.len() + rows, word.clone());
            }
        }
        (words, levels)
    }
}
