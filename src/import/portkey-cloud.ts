import type { CloudModel } from './cloud.ts'
import { variableOf } from './converted.ts'
import { type Tree, textOf } from './source.ts'
import type { Cloud } from './vendors.ts'

/** Portkey's targets in clouds (portkey.ai/docs/integrations/llms, gateway's header names without their beginning). */
export function readCloudTarget(cloud: Cloud, name: string, model: string | null, tree: Tree): CloudModel {
  const common = { cloud, version: null, address: null, region: null, project: null }
  if (cloud === 'azure-openai') return { ...common, ...readAzure(tree, model), variable: `${variableOf(name)}_API_KEY` }
  const variable = `${variableOf(name)}_CREDENTIAL`
  if (cloud === 'bedrock') return { ...common, model, region: textOf(tree.aws_region), variable, isDocument: true }
  const project = textOf(tree.vertex_project_id)
  return { ...common, model, region: textOf(tree.vertex_region), project, variable, isDocument: true }
}

function readAzure(tree: Tree, model: string | null) {
  const resource = textOf(tree.azure_resource_name) ?? textOf(tree.resource_name)
  return {
    address: resource === null ? textOf(tree.custom_host) : `https://${resource}.openai.azure.com`,
    version: textOf(tree.azure_api_version) ?? textOf(tree.api_version),
    model: textOf(tree.azure_deployment_id) ?? textOf(tree.deployment_id) ?? model,
    isDocument: textOf(tree.azure_entra_client_secret) !== null,
  }
}

/** What of a target says where a cloud is, and who calls. */
export const cloudMembers = [
  ...['azure_resource_name', 'resource_name', 'azure_deployment_id', 'deployment_id', 'azure_api_version'],
  ...['api_version', 'azure_model_name', 'azure_entra_client_secret', 'azure_entra_client_id'],
  ...['azure_entra_tenant_id', 'azure_auth_mode', 'aws_region', 'aws_access_key_id', 'aws_secret_access_key'],
  ...['aws_session_token', 'vertex_project_id', 'vertex_region', 'vertex_service_account_json'],
]
