/**
 * What `strip` of binutils does to a 64-bit little-endian ELF file: the symbol and debug sections go, everything that is
 * loaded at run time stays where it was. Ours, because packaging may need nothing beyond Node, npm and git.
 *
 * Sections that take no part in the running image (no SHF_ALLOC) stand behind the last loaded byte, so the file is cut
 * there, and a new section table (LIEF, which puts the blob in, wants one) is written behind the cut.
 * Throws `NotStrippable` for another kind of file, and for one that is laid out otherwise.
 */
export class NotStrippable extends Error {}

interface Section {
  /** The 64 bytes of its header. */
  header: Buffer
  name: string
  link: number
  info: number
}

const headerBytes = 64
const sectionBytes = 64
const segmentBytes = 56
const allocated = 2n
const infoIsIndex = 0x40n

export function stripElf(file: Buffer): Buffer {
  if (file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) {
    throw new NotStrippable('not a 64-bit little-endian ELF file')
  }
  const sections = readSections(file)
  const kept = sections.map((section, index) => index === 0 || isLoaded(section))
  const end = alignUp(endOfSegments(file))
  const remaining = sections.filter((_, index) => kept[index])
  for (const section of remaining) assertInside(section, end)

  const names = nameTable([...remaining.map((section) => section.name), '.shstrtab'])
  const placeOf = newPlaces(kept)
  const headers = remaining.map((section, index) => relink(section, names.offsets[index] ?? 0, placeOf))
  headers.push(nameSection(names.offsets.at(-1) ?? 0, end, names.bytes.length))
  const tableOffset = alignUp(end + names.bytes.length)
  const body = Buffer.alloc(tableOffset + headers.length * sectionBytes)
  file.copy(body, 0, 0, Math.min(end, file.length))
  names.bytes.copy(body, end)
  Buffer.concat(headers).copy(body, tableOffset)
  body.writeBigUInt64LE(BigInt(tableOffset), 40)
  body.writeUInt16LE(headers.length, 60)
  body.writeUInt16LE(headers.length - 1, 62)
  return body
}

function readSections(file: Buffer): Section[] {
  const offset = Number(file.readBigUInt64LE(40))
  const count = file.readUInt16LE(60)
  const headers = Array.from({ length: count }, (_, index) =>
    file.subarray(offset + index * sectionBytes, offset + (index + 1) * sectionBytes),
  )
  const table = headers[file.readUInt16LE(62)]
  if (table === undefined || offset + count * sectionBytes > file.length) throw new NotStrippable('no section table')
  const names = Number(table.readBigUInt64LE(24))
  return headers.map((header) => {
    const start = names + header.readUInt32LE(0)
    return {
      header,
      name: file.toString('latin1', start, file.indexOf(0, start)),
      link: header.readUInt32LE(40),
      info: header.readUInt32LE(44),
    }
  })
}

function isLoaded(section: Section): boolean {
  return (section.header.readBigUInt64LE(8) & allocated) !== 0n
}

function endOfSegments(file: Buffer): number {
  const offset = Number(file.readBigUInt64LE(32))
  const count = file.readUInt16LE(56)
  let end = Math.max(headerBytes, offset + count * segmentBytes)
  for (let index = 0; index < count; index++) {
    const start = offset + index * segmentBytes
    end = Math.max(end, Number(file.readBigUInt64LE(start + 8) + file.readBigUInt64LE(start + 32)))
  }
  if (end > file.length) throw new NotStrippable('a segment reaches beyond the end of the file')
  return end
}

function assertInside(section: Section, end: number): void {
  const isEmptyInFile = section.header.readUInt32LE(4) === 8
  const last = Number(section.header.readBigUInt64LE(24) + section.header.readBigUInt64LE(32))
  if (!isEmptyInFile && last > end)
    throw new NotStrippable(`section ${section.name} is loaded but stands in no segment`)
}

function newPlaces(kept: boolean[]): (old: number) => number {
  let next = 0
  const places = kept.map((isKept) => (isKept ? next++ : 0))
  return (old) => places[old] ?? 0
}

function relink(section: Section, nameOffset: number, placeOf: (old: number) => number): Buffer {
  const header = Buffer.from(section.header)
  header.writeUInt32LE(nameOffset, 0)
  header.writeUInt32LE(placeOf(section.link), 40)
  const infoNamesSection = (header.readBigUInt64LE(8) & infoIsIndex) !== 0n
  if (infoNamesSection) header.writeUInt32LE(placeOf(section.info), 44)
  return header
}

function nameSection(nameOffset: number, offset: number, size: number): Buffer {
  const header = Buffer.alloc(sectionBytes)
  header.writeUInt32LE(nameOffset, 0)
  header.writeUInt32LE(3, 4)
  header.writeBigUInt64LE(BigInt(offset), 24)
  header.writeBigUInt64LE(BigInt(size), 32)
  header.writeBigUInt64LE(1n, 48)
  return header
}

function nameTable(names: string[]): { bytes: Buffer; offsets: number[] } {
  let length = 0
  const offsets = names.map((name) => {
    const offset = length
    length += name.length + 1
    return offset
  })
  return { bytes: Buffer.from(names.map((name) => `${name}\0`).join(''), 'latin1'), offsets }
}

function alignUp(offset: number): number {
  return Math.ceil(offset / 8) * 8
}
