export interface ProvenanceOptions {
  /** The files of the release and their SHA-256, in hexadecimal digits. */
  files: readonly { name: string; sha256: string }[]
  platform: string
  /** The commit that they are made from; null: not known. */
  revision: string | null
  /** Whether the work tree had changes that are in no commit. */
  changed: boolean
  /** Of package-lock.json. */
  lockSha256: string
  node: string
  seconds: number
}

/**
 * What the files are made from and how to make them again: an in-toto statement with SLSA's provenance
 * (https://slsa.dev/spec/v1.0/provenance). It is not signed: whoever publishes the files signs it.
 */
export function writeProvenance(options: ProvenanceOptions): string {
  const { files, platform, revision, changed, lockSha256, node, seconds } = options
  const commit = revision === null ? [] : [{ uri: 'git+spgw', digest: { gitCommit: revision } }]
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:spgw:npm-run-release:v1',
        externalParameters: { command: `npm run release -- --platform ${platform}`, platform },
        internalParameters: { node, SOURCE_DATE_EPOCH: String(seconds), uncommittedChanges: changed },
        resolvedDependencies: [...commit, { uri: 'package-lock.json', digest: { sha256: lockSha256 } }],
      },
      runDetails: { builder: { id: 'urn:spgw:builder:local' } },
    },
  }
  return `${JSON.stringify(statement, null, 2)}\n`
}
