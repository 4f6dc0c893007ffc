import type { Layout } from "../sbp/layout.js";
import { readLayout } from "../sbp/read-layout.js";
import type { Boxing } from "./boxing.js";
import * as boxings from "./choose-boxing.js";
import { checkElementBytes } from "./read-boxing.js";

/**
 * Chooses how a tensor gets from one layout to another: dimensions that change alike are taken together first; on one placement it
 * is the cheapest sequence of changes of one dimension each, or slice copies where those move less; between placements slice
 * copies, over a split where partial becomes broadcast.
 * @param elementBytes - a whole number from 1; default 4.
 * @throws {ShapeError} where the two are of different shapes; InvalidArgumentError, PlacementError, SignatureError for what are no layouts,
 *   PlacementError also where a step takes more than 2^21 copies: of sums and of crossing splits, ranks × ranks.
 */
export function chooseBoxing(source: Layout, target: Layout, elementBytes = 4): Boxing {
  checkElementBytes("elementBytes", elementBytes);
  return boxings.chooseBoxing(readLayout("source", source), readLayout("target", target), elementBytes);
}
