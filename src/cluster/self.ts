/** As which member of a cluster a gateway asks. */
export interface Self {
  cluster: string
  member: string
  /** Of this run of the gateway: a copy of its data directory that runs elsewhere has another. */
  incarnation: string
}
