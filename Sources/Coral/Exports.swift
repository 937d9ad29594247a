// Who imports the toolkit has Core Data, and the plain values that documents are made of.

@_exported import CoreData
@_exported import GraphDocuments
