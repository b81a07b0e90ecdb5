import { Secret } from '../core/secrets/secret.ts'
import type { Document, Manifest } from './read.ts'
import type { ManifestEntry, Problem } from './resource.ts'

/** What the thread that reads files is given, and what it answers: secrets do not survive the way between threads. */
export interface ReadRequest {
  documents: readonly Document[]
  variables: Readonly<Record<string, string>>
}

interface SentEntry extends Omit<ManifestEntry, 'credentials'> {
  credentials: string[] | null
}

export interface ReadMessage {
  owner: string
  entries: SentEntry[]
  problems: Problem[]
}

export function toMessage({ owner, entries, problems }: Manifest): ReadMessage {
  const sent = entries.map((entry) => ({
    ...entry,
    credentials: entry.credentials?.map((secret) => secret.reveal()) ?? null,
  }))
  return { owner, entries: sent, problems }
}

export function fromMessage({ owner, entries, problems }: ReadMessage): Manifest {
  const received = entries.map((entry) => ({
    ...entry,
    credentials: entry.credentials?.map((text) => new Secret(text)) ?? null,
  }))
  return { owner, entries: received, problems }
}
