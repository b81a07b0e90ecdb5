import { closestName } from '../core/text/closest-names.ts'
import type { ProcessEnvironment } from './data-directory.ts'
import { settingNames } from './schema.ts'
import type { SettingProblem } from './settings-refused.ts'

/** Variables of spgw that are no settings of the file, or have a shorter name than their path gives. */
const otherVariables = ['SPGW_DATA_DIR', 'SPGW_PROJECT', 'SPGW_ENVIRONMENT']
const machineKeyFile = 'SPGW_MACHINE_KEY_FILE'

/** `gateway.body_limit` → `SPGW_GATEWAY_BODY_LIMIT`. */
function variableOf(setting: string): string {
  return `SPGW_${setting.toUpperCase().replaceAll('.', '_')}`
}

const settingOfVariable = new Map([
  ...settingNames.map((name): [string, string] => [variableOf(name), name]),
  [machineKeyFile, 'seal.machine_key_file'],
])
const sections = [...new Set(settingNames.map((name) => `${variableOf(name.split('.')[0] ?? '')}_`))]

/** The settings that the environment makes: name, text, and the variable it stands in. An empty variable is not set. */
export function readVariables(environment: ProcessEnvironment): { setting: string; value: string; variable: string }[] {
  return [...settingOfVariable].flatMap(([variable, setting]) => {
    const value = environment[variable]
    return value ? [{ setting, value, variable }] : []
  })
}

/** Variables that look like a setting and are none: a mistyped one must not be passed over in silence. */
export function findUnknownVariables(environment: ProcessEnvironment): SettingProblem[] {
  const known = [...settingOfVariable.keys(), ...otherVariables]
  return Object.keys(environment)
    .filter((variable) => sections.some((section) => variable.startsWith(section)) && !known.includes(variable))
    .filter((variable) => !isServiceLink(variable, environment[variable] ?? ''))
    .map((variable) => {
      const near = closestName(variable, known)
      return { place: variable, message: `unknown setting${near ? `; did you mean ${near}?` : ''}` }
    })
}

/** Kubernetes puts such variables into every container for a service that happens to be named spgw-gateway. */
function isServiceLink(variable: string, value: string): boolean {
  if (/_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_[A-Z]+)?$/.test(variable)) return true
  // Of this one the name alone could be a setting's: `SPGW_GATEWAY_PORT=8080` is somebody's wish for another port.
  return variable.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value)
}
