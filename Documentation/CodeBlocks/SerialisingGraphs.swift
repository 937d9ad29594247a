// The document that the page shows can be read.
try otherContext.importObjects(from: Data(documents[0].utf8))
