/** A file of records of one size, of which a loader reads any one by its number. */
export interface RecordFile {
  readonly path: string;
  readonly recordBytes: number;
  /** Bytes from one record's begin to the next one's; less than `recordBytes` where records overlap. */
  readonly stride: number;
  /** Records for training; they begin at byte 0. */
  readonly trainCount: number;
  /** Records for testing. */
  readonly testCount: number;
  /** Of the records for testing every so-manieth is used. */
  readonly testStep: number;
  /** Byte at which the first record for testing begins. */
  readonly testOffset: number;
}
