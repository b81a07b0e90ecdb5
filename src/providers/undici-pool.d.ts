/** undici types its index alone; the file behind `Pool` exports the same class. */
declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici'
  export default Pool
}
