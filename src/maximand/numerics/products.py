"""Products of vectors with a matrix that many of them share, four vectors at a time.

Rows have a multiple of `LANES` entries. Every entry is summed up in the same order, so that a vector is answered as it
would be alone. `rows` and `places` say which rows are read and written; their number is a multiple of `TOGETHER`, and
no place occurs twice.
"""

from numba import njit

from maximand.numerics.inner import inner
from maximand.support import Array, Ints

LANES = 8  # numbers in the widest vector of a processor
TOGETHER = 4  # vectors that share what is read of the matrix
PANEL = 64  # rows of the matrix that stay in the cache while all vectors are multiplied with them


def padded(n: int) -> int:
    """Return how many entries a row of n numbers has room for."""
    return -(-n // LANES) * LANES


@inner(fastmath={"contract"})
def add_four_products(a, b, c, d, matrix, begin, end, p, q, r, s):  # type: ignore[no-untyped-def]
    """Add the products of a, b, c, d with rows begin:end of the matrix, a multiple of four, to p, q, r, s."""
    for l in range(begin, end, 4):
        w, x, y, z = matrix[l], matrix[l + 1], matrix[l + 2], matrix[l + 3]
        aw, ax, ay, az = a[l], a[l + 1], a[l + 2], a[l + 3]
        bw, bx, by, bz = b[l], b[l + 1], b[l + 2], b[l + 3]
        cw, cx, cy, cz = c[l], c[l + 1], c[l + 2], c[l + 3]
        dw, dx, dy, dz = d[l], d[l + 1], d[l + 2], d[l + 3]
        for m in range(p.size):
            p[m] = p[m] + aw * w[m] + ax * x[m] + ay * y[m] + az * z[m]
            q[m] = q[m] + bw * w[m] + bx * x[m] + by * y[m] + bz * z[m]
            r[m] = r[m] + cw * w[m] + cx * x[m] + cy * y[m] + cz * z[m]
            s[m] = s[m] + dw * w[m] + dx * x[m] + dy * y[m] + dz * z[m]


@njit(cache=True, nogil=True, fastmath={"contract"})
def add_products(vectors: Array, rows: Ints, matrix: Array, out: Array, places: Ints) -> None:
    """out[places[j]] += vectors[rows[j]] @ matrix."""
    length = len(matrix)
    for begin in range(0, length, PANEL):
        end = min(begin + PANEL, length)
        for j in range(0, rows.size, TOGETHER):
            a, b, c, d = vectors[rows[j]], vectors[rows[j + 1]], vectors[rows[j + 2]], vectors[rows[j + 3]]
            p, q, r, s = out[places[j]], out[places[j + 1]], out[places[j + 2]], out[places[j + 3]]
            add_four_products(a, b, c, d, matrix, begin, end, p, q, r, s)


@njit(cache=True, nogil=True)
def raise_to_best_sums(vectors: Array, rows: Ints, matrix: Array, out: Array, places: Ints) -> None:
    """out[places[j], m] = max(out[places[j], m], max_l vectors[rows[j], l] + matrix[l, m])."""
    length, width = matrix.shape
    for begin in range(0, length, PANEL):
        end = min(begin + PANEL, length)
        for j in range(0, rows.size, TOGETHER):
            a, b, c, d = vectors[rows[j]], vectors[rows[j + 1]], vectors[rows[j + 2]], vectors[rows[j + 3]]
            p, q, r, s = out[places[j]], out[places[j + 1]], out[places[j + 2]], out[places[j + 3]]
            for l in range(begin, end, 2):
                y, z = matrix[l], matrix[l + 1]
                ay, az, by, bz, cy, cz, dy, dz = a[l], a[l + 1], b[l], b[l + 1], c[l], c[l + 1], d[l], d[l + 1]
                for m in range(width):
                    one, other = ay + y[m], az + z[m]
                    one = one if one > other else other
                    p[m] = one if one > p[m] else p[m]
                    one, other = by + y[m], bz + z[m]
                    one = one if one > other else other
                    q[m] = one if one > q[m] else q[m]
                    one, other = cy + y[m], cz + z[m]
                    one = one if one > other else other
                    r[m] = one if one > r[m] else r[m]
                    one, other = dy + y[m], dz + z[m]
                    one = one if one > other else other
                    s[m] = one if one > s[m] else s[m]


@inner()
def fill_up(rows, places, count, spare_row, spare_place):  # type: ignore[no-untyped-def]
    """Append spare rows and places up to a multiple of TOGETHER; return their number."""
    while count % TOGETHER:
        rows[count], places[count] = spare_row, spare_place
        spare_row, spare_place, count = spare_row + 1, spare_place + 1, count + 1
    return count
