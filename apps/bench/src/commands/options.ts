import { InvalidArgumentError as InvalidOption } from "commander";

/** Parser of a whole number in a range, for commander. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === "" || !Number.isInteger(value) || value < least || value > most) {
      throw new InvalidOption(`It must be a whole number from ${least} to ${most}.`);
    }
    return value;
  };
}

/** Parser of a number in a range, for commander. */
export function numberBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === "" || !(value >= least && value <= most)) {
      throw new InvalidOption(`It must be a number from ${least} to ${most}.`);
    }
    return value;
  };
}
