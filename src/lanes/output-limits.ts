/** Where the body of a request limits the tokens of its answer. */
export interface OutputLimits {
  /** Members that limit each choice. If there is none, the first that the provider knows is added. */
  names: readonly string[]
  /** Members with the number of choices. */
  choices: readonly string[]
  /** The member that may be a list of prompts, each with its own answer. Left out: there is one prompt. */
  prompts?: string
  /** The possible names of the member that contains them; null: the body itself does. */
  within: readonly string[] | null
}
