/** Names within the data directory. */
export const databaseFile = 'spgw.db'
export const journalFolder = 'journal'
/** While a backup is made. */
export const backupFolder = 'backup'
