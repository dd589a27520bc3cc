import { App, Stack } from 'aws-cdk-lib'
import { AccountRootPrincipal, Role } from 'aws-cdk-lib/aws-iam'
import { UrlSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { StringParameter } from 'aws-cdk-lib/aws-ssm'
import { Waybill } from 'waybill/cdk'

const app = new App()
const stack = new Stack(app, 'Assistant', { terminationProtection: true })
const gateway = new Waybill(stack, 'Gateway', { stage: 'prod', alarmEmail: 'oncall@example.com' })

// The rest of the app: where the gateway is, who may look at its keys, and who is paged.
new StringParameter(stack, 'GatewayAddress', { stringValue: gateway.baseUrl })
const support = new Role(stack, 'Support', { assumedBy: new AccountRootPrincipal() })
support.addManagedPolicy(gateway.readerPolicy)
gateway.pageTopic.addSubscription(new UrlSubscription('https://pager.example.com/waybill'))
