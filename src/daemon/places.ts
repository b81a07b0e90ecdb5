/** Names within the data directory. */
export const databaseFile = 'spgw.db'
export const journalFolder = 'journal'
/** While a backup is made. */
export const backupFolder = 'backup'
/** What a restore has prepared, until it stands in its place. */
export const restoreFolder = 'restore.ready'
