const words: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the journal may not grow: a limit on the size of files',
  EROFS: 'the file system is read-only',
  EACCES: 'no permission to write to the journal directory',
  EPERM: 'no permission to write to the journal directory',
  EEXIST: 'the journal directory is not a directory',
  ENOTDIR: 'the journal directory is not a directory',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files',
  EIO: 'the disk failed to write',
}

/** Why the journal cannot be written, in words. Without the path: every client of `/readyz` reads it. */
export function describeDiskFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : null
  if (code === null) return error instanceof Error ? error.message : String(error)
  return `${words[code] ?? 'the journal cannot be written'} (${code})`
}
