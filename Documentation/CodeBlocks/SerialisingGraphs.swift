// The document that the page shows can be read.
try otherContext.importObjects(from: Data(documents[0].utf8))
// The other device has the tags and people to which notes refer.
try otherContext.importObjects(from: Data(#"{"Person": [{"name": "Ada"}], "Tag": [{"name": "home"}, {"name": "work"}]}"#.utf8))
