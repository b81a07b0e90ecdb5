/** Where the body of a request limits the tokens of its answer. */
export interface OutputLimits {
  /** Members that limit each choice. The first that the provider knows is written where there is none. */
  names: readonly string[]
  /** Members that say how many choices are asked for. */
  choices: readonly string[]
  /** The member that may be a list of prompts, each of which has an answer of its own. Left out: there is one. */
  prompts?: string
  /** The spellings of the member that holds them; null: the body itself does. */
  within: readonly string[] | null
}
