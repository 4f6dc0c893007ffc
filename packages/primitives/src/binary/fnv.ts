/**
 * 64-bit FNV-1a over a stream of bytes. Kept as two 32-bit halves, because BigInt arithmetic for each byte is fifty times
 * slower. It tells different programs apart; it doesn't protect against forgery.
 */
export class Fnv64 {
  private high = 0xcbf2_9ce4;
  private low = 0x8422_2325;

  update(bytes: Uint8Array): this {
    let { high, low } = this;
    for (const byte of bytes) {
      low = (low ^ byte) >>> 0;
      // times 2^40 + 0x1b3: the products stay below 2^53, so doubles hold them exactly.
      const product = low * 0x1b3;
      const carry = Math.floor(product / 0x1_0000_0000);
      high = (high * 0x1b3 + carry + low * 0x100) % 0x1_0000_0000;
      low = product % 0x1_0000_0000;
    }
    this.high = high;
    this.low = low;
    return this;
  }

  digest(): bigint {
    return (BigInt(this.high) << 32n) | BigInt(this.low);
  }
}
