/** Whether all of what a show has is to be seen (`npm run shows`), and not the sample that fits among the tests. */
export const isWhole = process.env.SPGW_SHOWS === 'all'
