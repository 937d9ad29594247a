// Importing the toolkit also imports Core Data, and the plain values of documents.

@_exported import CoreData
@_exported import GraphDocuments
