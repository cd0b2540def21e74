/** Locations (RFC 1876): presentation and wire form of LOC rdata. */

/** Degrees, minutes, seconds and the letter of the direction. */
type Angle = [degrees: number, minutes: number, seconds: number, direction: string];

/** A location, in the order of its presentation form. */
export interface Location {
  latitude: Angle;
  longitude: Angle;
  /** metres: altitude, size, horizontal and vertical precision */
  metres: [number, number, number, number];
}

const MINUTES = '(?: (\\d{1,2})(?: ([\\d.]+))?)?';
const SIZE = '(?: ([\\d.]+)m?)?';
const LOC = new RegExp(`^(\\d{1,2})${MINUTES} ([NS]) (\\d{1,3})${MINUTES} ([EW]) (-?[\\d.]+)m?${SIZE}${SIZE}${SIZE}$`);

/** A location from its presentation form, with what may be left out; null when it is none. */
export function readLocation(text: string): Location | null {
  const m = LOC.exec(text.trim().replace(/\s+/g, ' ').toUpperCase().replaceAll('M', 'm'));
  if (!m) return null;
  const angle = (at: number, max: number): Angle | null => {
    const [degrees, minutes, seconds] = [m[at], m[at + 1] ?? 0, m[at + 2] ?? 0].map(Number) as [number, number, number];
    const isOne = seconds <= 59.999 && minutes <= 59 && degrees + minutes / 60 + seconds / 3600 <= max;
    return isOne ? [degrees, minutes, seconds, m[at + 3] as string] : null;
  };
  const [latitude, longitude] = [angle(1, 90), angle(5, 180)];
  const metres = [m[9], m[10] ?? 1, m[11] ?? 10000, m[12] ?? 10].map(Number) as Location['metres'];
  return latitude && longitude && !metres.some(Number.isNaN) ? { latitude, longitude, metres } : null;
}

/** A location with all its parts written out: servers answer that form, and some accept no other. */
export function locationText({ latitude, longitude, metres }: Location): string {
  const angle = ([degrees, minutes, seconds, direction]: Angle) =>
    `${degrees} ${minutes} ${seconds.toFixed(3)} ${direction}`;
  return [angle(latitude), angle(longitude), ...metres.map((n) => `${n.toFixed(2)}m`)].join(' ');
}

/** Octets of the rdata. */
const LENGTH = 16;
/** The equator and the zero meridian in thousandths of an arc second, and sea level in centimetres. */
const MIDDLE = 2 ** 31;
const SEA_LEVEL = 10_000_000;
const PER_DEGREE = 3_600_000;

/** Wire form; null when a number of it does not fit. Sizes are rounded down to their first digit, as they are kept. */
export function locationToWire({ latitude, longitude, metres: [altitude, ...sizes] }: Location): Buffer | null {
  const wire = Buffer.alloc(LENGTH);
  const centimetres = Math.round(altitude * 100) + SEA_LEVEL;
  const codes = sizes.map(sizeCode);
  if (centimetres < 0 || centimetres > 0xffffffff || codes.includes(null)) return null;
  codes.forEach((code, i) => {
    wire.writeUInt8(code as number, 1 + i);
  });
  [latitude, longitude].forEach(([degrees, minutes, seconds, direction], i) => {
    const units = Math.round(degrees * PER_DEGREE + minutes * 60_000 + seconds * 1000);
    wire.writeUInt32BE(MIDDLE + (direction === 'N' || direction === 'E' ? units : -units), 4 + 4 * i);
  });
  wire.writeUInt32BE(centimetres, 12);
  return wire;
}

/** metres */
const MAX_SIZE = 90_000_000;

/** One digit and a power of ten, of centimetres, four bits each. */
function sizeCode(metres: number): number | null {
  const digits = String(Math.round(metres * 100));
  return metres <= MAX_SIZE ? (Number(digits[0]) << 4) | (digits.length - 1) : null;
}

/** A location from its wire form; null when it is none, or of another version than 0. */
export function locationFromWire(wire: Buffer): Location | null {
  if (wire.length !== LENGTH || wire.readUInt8(0) !== 0) return null;
  const angle = (at: number, max: number, [plus, minus]: [string, string]): Angle | null => {
    const units = wire.readUInt32BE(at) - MIDDLE;
    const size = Math.abs(units);
    if (size > max * PER_DEGREE) return null;
    const minutes = Math.floor(size / 60_000);
    return [Math.floor(minutes / 60), minutes % 60, (size % 60_000) / 1000, units < 0 ? minus : plus];
  };
  const [latitude, longitude] = [angle(4, 90, ['N', 'S']), angle(8, 180, ['E', 'W'])];
  const sizes = [1, 2, 3].map((at) => [wire.readUInt8(at) >> 4, wire.readUInt8(at) & 15] as const);
  if (!latitude || !longitude || sizes.some((of) => Math.max(...of) > 9)) return null;
  const [size, horizontal, vertical] = sizes.map(([digit, power]) => (digit * 10 ** power) / 100) as [
    number,
    number,
    number,
  ];
  return { latitude, longitude, metres: [(wire.readUInt32BE(12) - SEA_LEVEL) / 100, size, horizontal, vertical] };
}
