//! Cube maps: six square faces that meet at their edges.
//!
//! A face's texels are numbered along *s* and *t* as v_cubesc and v_cubetc define them (SI manual): with the major axis
//! on the outside, face 0 is +x with s = −z and t = −y, face 1 is −x with s = z and t = −y, face 2 is +y with s = x and
//! t = z, face 3 is −y with s = x and t = −z, face 4 is +z with s = x and t = −y, face 5 is −z with s = −x and t = −y.
//!
//! The neighbour of a texel at an edge is found in space. With a face's edge two per texel, its texels' centres have
//! odd distances from the middle of the cube, and the face itself lies at distance `size`. A texel one step outside of a
//! face is, folded around the edge, one with the outer coordinate at `size` and the old face's at `size` − 1.

/// The axes of a face in space: which one (0 x, 1 y, 2 z) and in which direction, outwards, along s and along t.
const FACES: [[(usize, i32); 3]; 6] = [
    [(0, 1), (2, -1), (1, -1)],
    [(0, -1), (2, 1), (1, -1)],
    [(1, 1), (0, 1), (2, 1)],
    [(1, -1), (0, 1), (2, -1)],
    [(2, 1), (0, 1), (1, -1)],
    [(2, -1), (0, -1), (1, -1)],
];

/// A texel of a cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaceTexel {
    /// 0 to 5.
    pub face: u32,
    /// Along s, from 0 to the size less one.
    pub x: u32,
    /// Along t, likewise.
    pub y: u32,
}

/// The texel at (`x`, `y`) of `face`, each from −1 to `size`, of a cube whose faces have `size` × `size` texels. Where
/// one of them is outside, that is a texel of the next face; where both are, three faces meet and there is none.
#[inline]
pub fn texel(face: u32, x: i32, y: i32, size: u32) -> Option<FaceTexel> {
    let inside = |i: i32| (0..size as i32).contains(&i);
    match (inside(x), inside(y)) {
        (true, true) => Some(FaceTexel { face, x: x as u32, y: y as u32 }),
        (false, false) => None,
        _ => Some(across(face, x, y, size as i32)),
    }
}

/// The three texels that meet at the corner of `face` next to (`x`, `y`), both of which are outside.
pub fn corner(face: u32, x: i32, y: i32, size: u32) -> [FaceTexel; 3] {
    let last = size as i32 - 1;
    let (inner_x, inner_y) = (x.clamp(0, last), y.clamp(0, last));
    let own = FaceTexel { face, x: inner_x as u32, y: inner_y as u32 };
    [own, across(face, x, inner_y, size as i32), across(face, inner_x, y, size as i32)]
}

/// The texel outside of one edge of `face`.
fn across(face: u32, x: i32, y: i32, size: i32) -> FaceTexel {
    let [outwards, along_s, along_t] = FACES[face as usize];
    let mut point = [0; 3];
    // An outer coordinate of −1 or `size` is size + 1 away from the middle: one too far.
    let fold = |i: i32| (2 * i + 1 - size).clamp(-size, size);
    point[outwards.0] = outwards.1 * (size - 1);
    point[along_s.0] = along_s.1 * fold(x);
    point[along_t.0] = along_t.1 * fold(y);
    on_face(point, size)
}

/// The texel with its centre at `point`, one of whose coordinates is ±`size`.
fn on_face(point: [i32; 3], size: i32) -> FaceTexel {
    let holds = |&[(axis, sign), ..]: &[(usize, i32); 3]| point[axis] * sign == size;
    // Only the coordinate that was outside is that large: the others are odd distances below it.
    let face = FACES.iter().position(holds).unwrap_or(0);
    let [_, along_s, along_t] = FACES[face];
    let number = |(axis, sign): (usize, i32)| ((point[axis] * sign + size - 1) / 2) as u32;
    FaceTexel { face: face as u32, x: number(along_s), y: number(along_t) }
}
