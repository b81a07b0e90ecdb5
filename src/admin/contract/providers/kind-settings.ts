import { fieldsOf, type ListedSetting, listSettings, type Scalar, type SettingRow } from './kind-fields.ts'
import settings from './kind-settings.json' with { type: 'json' }

type KindSettingField = keyof typeof settings

/**
 * The settings of all provider kinds, by the input field of `providers add` and `edit` that carries them. The kinds' files state them;
 * the contract runs in browsers, too, and cannot load those. So `npm run reference` writes them as data, and a rule test compares.
 */
const kindSettings: Readonly<Record<KindSettingField, SettingRow>> = settings

/** The values that were given; null removes one. */
export type KindSettingsInput = { [Name in KindSettingField]?: Scalar | null | undefined }

export type ListedKindSetting = ListedSetting<KindSettingField>

export const listedKindSettings: readonly ListedKindSetting[] = listSettings(kindSettings)

export const kindSettingFields = fieldsOf(listedKindSettings)
