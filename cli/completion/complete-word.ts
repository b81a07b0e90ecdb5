/** What the scripts of `spgw completion` call; not for people, so in no help. */
export const completeWord = '__complete'
