/** The identity with which a gateway asks. */
export interface Self {
  cluster: string
  member: string
  /** Identifies this run of the gateway: a copy of its data directory that runs elsewhere has another. */
  incarnation: string
}
