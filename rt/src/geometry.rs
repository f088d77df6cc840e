//! The shape of a launch: a grid of work-items, split into work-groups.

/// Most work-items in a work-group.
pub const MAX_GROUP: u32 = 1024;

/// A grid and how it is split. Sizes are in work-items; the grid need not be a multiple of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    /// Dimensions that the host gave, 1 to 3.
    pub dimensions: u16,
    /// Work-items in the grid.
    pub grid: [u32; 3],
    /// Work-items in a whole work-group.
    pub block: [u32; 3],
    /// What global ids start from.
    pub offset: [u64; 3],
}

/// Coordinates of work-groups that are asked for mostly in their order: most steps are a count, where a division for each
/// dimension would take as long as a short wave.
#[derive(Debug)]
pub(crate) struct Walk {
    geometry: Geometry,
    counts: [u32; 3],
    /// The coordinate of each dimension where work-groups are partial ones, or one that there is not.
    partial: [u32; 3],
    /// The work-group that was asked for last, and its coordinates.
    last: (u64, [u32; 3]),
}

impl Walk {
    /// At the first work-group of a launch.
    pub(crate) fn new(geometry: &Geometry) -> Walk {
        let counts = geometry.group_counts();
        let is_whole = |d: usize| geometry.grid[d].is_multiple_of(geometry.block[d]);
        let partial = std::array::from_fn(|d| if is_whole(d) { u32::MAX } else { counts[d] - 1 });
        Walk { geometry: *geometry, counts, partial, last: (0, [0; 3]) }
    }

    /// The coordinates of a work-group, from its place in the order x, y, z, and its size.
    // What has just been written one by one is never read together: that would wait for all stores before.
    #[inline(always)]
    pub(crate) fn to(&mut self, linear: u64) -> ([u32; 3], [u32; 3]) {
        let (last, [mut x, mut y, mut z]) = self.last;
        let counts = self.counts;
        if linear == last + 1 {
            x += 1;
            if x == counts[0] {
                (x, y) = (0, y + 1);
                if y == counts[1] {
                    (y, z) = (0, z + 1);
                }
            }
        } else if linear != last {
            [x, y, z] = place(linear, counts);
        }
        self.last = (linear, [x, y, z]);
        let [at_x, at_y, at_z] = self.partial;
        let is_whole = x != at_x && y != at_y && z != at_z;
        let group = [x, y, z];
        (group, if is_whole { self.geometry.block } else { self.geometry.group_size(group) })
    }

    /// How many work-groups of one size there are in x from the one on that was asked for last.
    #[inline(always)]
    pub(crate) fn alike(&self) -> usize {
        let x = self.last.1[0];
        let end = self.partial[0].min(self.counts[0]);
        end.saturating_sub(x).max(1) as usize
    }
}

/// The coordinates of work-group `linear`.
#[cold]
fn place(linear: u64, counts: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = counts.map(u64::from);
    [(linear % x) as u32, (linear / x % y) as u32, (linear / x / y) as u32]
}

/// A launch whose shape is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GeometryError {
    /// A work-group without work-items, or with more than 1024.
    #[error("a work-group of {0:?} work-items: 1 to {MAX_GROUP} are possible")]
    Group([u32; 3]),
    /// More work-groups than can be counted.
    #[error("a grid of {0:?} work-items has too many work-groups")]
    Grid([u32; 3]),
    /// Not 1 to 3 dimensions, or a size other than 1 in a dimension that there is not.
    #[error("{0} dimensions do not fit the sizes")]
    Dimensions(u16),
}

impl Geometry {
    /// A grid without an offset, in as many dimensions as the sizes need.
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Geometry {
        let needed = (1..3).rev().find(|&d| grid[d] != 1 || block[d] != 1).unwrap_or(0);
        Geometry { dimensions: needed as u16 + 1, grid, block, offset: [0; 3] }
    }

    /// Checks the sizes.
    pub fn check(&self) -> Result<(), GeometryError> {
        let items = self.block.iter().try_fold(1u32, |product, &size| product.checked_mul(size));
        if !items.is_some_and(|items| (1..=MAX_GROUP).contains(&items)) {
            return Err(GeometryError::Group(self.block));
        }
        let unused = usize::from(self.dimensions)..3;
        if !(1..=3).contains(&self.dimensions) || unused.into_iter().any(|d| self.grid[d] > 1 || self.block[d] != 1) {
            return Err(GeometryError::Dimensions(self.dimensions));
        }
        self.checked_groups().map(|_| ()).ok_or(GeometryError::Grid(self.grid))
    }

    /// Work-groups in each dimension, a partial one included.
    pub fn group_counts(&self) -> [u32; 3] {
        std::array::from_fn(|d| self.grid[d].div_ceil(self.block[d]))
    }

    /// Work-groups in all. Only meaningful if [`Geometry::check`] passes.
    pub fn groups(&self) -> u64 {
        self.checked_groups().unwrap_or(0)
    }

    fn checked_groups(&self) -> Option<u64> {
        self.group_counts().into_iter().try_fold(1u64, |product, count| product.checked_mul(count.into()))
    }

    /// The size of the work-group at these coordinates: that of a whole one, or what is left of the grid.
    pub fn group_size(&self, group: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|d| {
            let before = u64::from(group[d]) * u64::from(self.block[d]);
            (u64::from(self.grid[d]).saturating_sub(before)).min(self.block[d].into()) as u32
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_groups_cover_the_grid() {
        let geometry = Geometry::new([10, 7, 1], [4, 3, 1]);
        geometry.check().unwrap();
        assert_eq!(geometry.dimensions, 2);
        assert_eq!(geometry.group_counts(), [3, 3, 1]);
        let mut walk = Walk::new(&geometry);
        let items: u32 = (0..geometry.groups()).map(|g| walk.to(g).1.iter().product::<u32>()).sum();
        assert_eq!(items, 70);
        assert_eq!(geometry.group_size([2, 2, 0]), [2, 1, 1]);
    }

    #[test]
    fn work_groups_of_a_row_are_alike_but_a_partial_one() {
        for (grid, alike) in [([10, 7, 1], [2, 1, 1, 2]), ([8, 3, 2], [2, 1, 2, 1]), ([3, 5, 1], [1, 1, 1, 1])] {
            let geometry = Geometry::new(grid, [4, 3, 1]);
            let mut walk = Walk::new(&geometry);
            for (linear, alike) in (0..geometry.groups()).zip(alike) {
                walk.to(linear);
                assert_eq!(walk.alike(), alike, "{linear} of {grid:?}");
            }
        }
    }

    #[test]
    fn a_walk_goes_anywhere() {
        let geometry = Geometry::new([10, 7, 5], [4, 3, 2]);
        let mut walk = Walk::new(&geometry);
        let place = |[x, y, z]: [u32; 3]| u64::from(x + 3 * (y + 3 * z));
        for linear in (0..geometry.groups()).chain([5, 6, 6, 2, 26, 0]) {
            let (group, size) = walk.to(linear);
            assert_eq!(place(group), linear);
            assert_eq!(size, geometry.group_size(group));
        }
    }

    #[test]
    fn huge_grids_do_not_overflow() {
        let geometry = Geometry::new([u32::MAX, u32::MAX, 1], [1, 1, 1]);
        geometry.check().unwrap();
        assert_eq!(geometry.groups(), u64::from(u32::MAX) * u64::from(u32::MAX));
        assert_eq!(Walk::new(&geometry).to(geometry.groups() - 1), ([u32::MAX - 1, u32::MAX - 1, 0], [1; 3]));
        assert_eq!(geometry.group_size([u32::MAX - 1, 0, 0]), [1, 1, 1]);
        let last = Geometry::new([u32::MAX, 1, 1], [1024, 1, 1]);
        assert_eq!(last.group_size([last.group_counts()[0] - 1, 0, 0]), [1023, 1, 1]);
    }

    #[test]
    fn impossible_shapes_are_refused() {
        let check = |grid, block| Geometry::new(grid, block).check();
        assert_eq!(check([1; 3], [0, 1, 1]), Err(GeometryError::Group([0, 1, 1])));
        assert_eq!(check([1; 3], [1025, 1, 1]), Err(GeometryError::Group([1025, 1, 1])));
        assert_eq!(check([1; 3], [u32::MAX; 3]), Err(GeometryError::Group([u32::MAX; 3])));
        assert_eq!(check([u32::MAX; 3], [1; 3]), Err(GeometryError::Grid([u32::MAX; 3])));
        let flat = Geometry { dimensions: 1, ..Geometry::new([4, 4, 1], [4, 4, 1]) };
        assert_eq!(flat.check(), Err(GeometryError::Dimensions(1)));
        assert_eq!(check([0, 1, 1], [64, 1, 1]), Ok(()));
    }
}
