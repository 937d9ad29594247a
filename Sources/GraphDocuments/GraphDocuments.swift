// Documents of graphs, without objects. Reading begins here.
//
// - `Records`: what a document contains (`GraphRecord`, `GraphValue`), and the protocols of readers and writers.
// - `Layouts`: the arrangement of records. `TokenRecordReader` reads them from the tokens of any format.
// - `JSON`, `XML`, `PropertyLists`, `Dictionaries`, `Trees`, `Tables`: the formats.
// - `Mapping`, `Foreign`: documents of other services.
// - `Differences`: deltas of two documents.
// - `Bytes`, `Text`: sources and sinks, numbers and dates as text.
//
// Where a rule is:
// - the structure of documents in the plain layout: `JSON/JSONWriter+Values.swift`
// - the limits of documents: `Records/DocumentError.swift`
// - dates as text: `Text/DateText.swift`
