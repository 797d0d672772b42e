/**
 * The numbers and texts of documents, with the range that their schemas check, and the field that most of them have. The
 * name or the comment of a field gives the unit.
 */

/**
 * A whole number, 0 or more: bytes or a count.
 * @asType integer
 * @minimum 0
 */
export type Natural = number;

/**
 * A whole number, 1 or more.
 * @asType integer
 * @minimum 1
 */
export type Positive = number;

/**
 * A whole number of either sign: a change.
 * @asType integer
 */
export type Integer = number;

/**
 * A number, 0 or more: a duration, a share.
 * @minimum 0
 */
export type Amount = number;

/**
 * A number above 0: a factor, a value of a parameter.
 * @exclusiveMinimum 0
 */
export type Factor = number;

/**
 * A moment: ISO 8601, UTC, in milliseconds.
 * @pattern ^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$
 */
export type Timestamp = string;

/** A document of one machine. */
export interface OfMachine {
  /** Name of the simulated machine; null on real hardware. */
  simulated: string | null;
}
