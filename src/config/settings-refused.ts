/** One setting that cannot be used, and where it stands: `config.yaml:3:5`, `SPGW_LOG_LEVEL` or `--listen`. */
export interface SettingProblem {
  place: string
  /** Never holds the value: it may be a secret in the wrong place. */
  message: string
}

/** The settings are refused as a whole: nothing is started with half of them. */
export class SettingsRefused extends Error {
  override readonly name = 'SettingsRefused'
  readonly problems: readonly SettingProblem[]
  readonly hint = 'Nothing was started. Fix the settings and start again.'

  constructor(problems: readonly SettingProblem[]) {
    super(problems.map((problem) => `${problem.place}: ${problem.message}`).join('\n'))
    this.problems = problems
  }
}
