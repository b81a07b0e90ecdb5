/** `2026-01-02T03:04`: what the times of a minute have in common. */
const minuteLength = 16

/** Reads times that come nearly in order: a date is parsed once a minute. */
export class RecordClock {
  #minute = ''
  #start = 0

  /** Milliseconds since the epoch, of a time as records have it: UTC with milliseconds. */
  read(time: string): number {
    if (this.#minute === '' || !time.startsWith(this.#minute)) {
      this.#minute = time.slice(0, minuteLength)
      this.#start = Date.parse(`${this.#minute}:00.000Z`)
    }
    return this.#start + Number(time.slice(minuteLength + 1, -1)) * 1000
  }
}
