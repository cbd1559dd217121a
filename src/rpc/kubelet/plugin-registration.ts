import { bool, list, message, string } from '../message.ts';
import { service, unary } from '../rpc-service.ts';

const InfoRequest = message('pluginregistration.InfoRequest', {});
const PluginInfo = message('pluginregistration.PluginInfo', {
  type: string(1),
  name: string(2),
  endpoint: string(3),
  supported_versions: list(string(4)),
});
const RegistrationStatus = message('pluginregistration.RegistrationStatus', {
  plugin_registered: bool(1),
  error: string(2),
});
const RegistrationStatusResponse = message('pluginregistration.RegistrationStatusResponse', {});

/** Served by plugins at a socket in the registry of the kubelet, which asks who they are and tells what became of it. */
export const PluginRegistration = service('pluginregistration.Registration', {
  GetInfo: unary(InfoRequest, PluginInfo),
  NotifyRegistrationStatus: unary(RegistrationStatus, RegistrationStatusResponse),
});
