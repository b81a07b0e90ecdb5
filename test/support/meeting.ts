/**
 * Lets threads do one thing at one moment, as far as the machine lets them: only then do they meet inside a
 * compare-and-exchange. Round by round, without waiting long for one that does not come.
 */
export function meeting(arrived: SharedArrayBuffer, threads: number): (round: number) => void {
  const counts = new Int32Array(arrived)
  return (round) => {
    Atomics.add(counts, round, 1)
    for (let spin = 0; spin < 20_000 && Atomics.load(counts, round) < threads; spin++);
  }
}

export function createMeetings(rounds: number): SharedArrayBuffer {
  return new SharedArrayBuffer(rounds * Int32Array.BYTES_PER_ELEMENT)
}
