// A file of its own beside chat's code, with AWS's SDK in it: loaded with the first call to Bedrock.
export {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  InvokeModelCommand,
} from '@aws-sdk/client-bedrock-runtime'
