package judge

import "encoding/json"

// answerSchema is the JSON schema of the answer that the prompts ask for: reason first, as a judge that has to give its reason first
// judges better.
const answerSchema = `{"type":"object",` +
	`"properties":{"reason":{"type":"string"},"label":{"type":"string","enum":["contra","dup","ok"]}},` +
	`"required":["reason","label"],"additionalProperties":false}`

// Schema is the answer's JSON schema, for servers that bind a model to one. It says nothing that the prompts do not say, so it is no
// part of [PromptVersion]; and a server may ignore it, so [Read] reads every answer alike.
func Schema() json.RawMessage { return json.RawMessage(answerSchema) }
