-- Once, with the name of your bucket: the files of FOCUS as a table. Cast amounts: CAST(billedcost AS decimal(38, 9)).
CREATE EXTERNAL TABLE waybill_prod.focus (
  billedcost string,
  billingaccountid string,
  billingaccountname string,
  billingaccounttype string,
  billingcurrency string,
  billingperiodend string,
  billingperiodstart string,
  chargecategory string,
  chargeclass string,
  chargedescription string,
  chargeperiodend string,
  chargeperiodstart string,
  consumedquantity string,
  consumedunit string,
  contractedcost string,
  effectivecost string,
  hostprovidername string,
  invoiceissuername string,
  listcost string,
  pricingquantity string,
  pricingunit string,
  servicecategory string,
  servicename string,
  serviceprovidername string,
  skuid string,
  skumeter string,
  subaccountid string,
  subaccountname string,
  x_model string
)
PARTITIONED BY (dt string)
ROW FORMAT SERDE 'org.openx.data.jsonserde.JsonSerDe'
LOCATION 's3://BUCKET/focus/'
TBLPROPERTIES (
  'projection.enabled' = 'true',
  'projection.dt.type' = 'date',
  'projection.dt.format' = 'yyyy-MM-dd',
  'projection.dt.range' = '2026-01-01,NOW'
)
