import CoreData
import GraphDocuments

#if !canImport(Darwin) && !CORAL_PUBLIC_API

    @_spi(Stores) import ManagedObjects

    extension BatchImporter {
        /// Imports a document by rows; returns nil, with nothing changed, if the object importer is needed.
        func importRows(
            _ source: ImportSource, entity: String?, model: ImportModel, progress: Progress?
        ) throws -> Result? {
            guard entity == nil, options.areForRows, rowImporting != .never, model.mapping == nil,
                rowImporting == .always || coordinator.managedObjectModel.entities.allSatisfy(\.hasPlainClass),
                coordinator.persistentStores.count == 1, let store = coordinator.persistentStores.first,
                let bytes = try source.plainJSON()
            else { return nil }
            let reading = reading(model, entity: nil)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            do {
                return try context.performAndWait {
                    try context.writeRows(in: store) { writer in
                        var run = RowImport(
                            bytes, writer: writer, model: model, options: options, reading: reading, progress: progress
                        )
                        return try run.run()
                    }
                }
            } catch is RowRefusal {
                return nil
            } catch is PlainFieldReader.Irregular {
                // Reads the document again with the record reader, which reports syntax errors; nothing has been
                // written.
                var reader = try source.reader(schema: model.schema, options: reading)
                while try reader.nextPlaced() != nil {
                    if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
                }
                return nil
            } catch let mistakes as RowImportMistakes {
                throw try mistakes.explanation(of: source, importer: self, model: model, reading: reading)
            }
        }
    }

    extension ImportOptions {
        /// Whether the options need no objects.
        fileprivate var areForRows: Bool {
            reading.shape == .plain && reading.layout == nil && reading.rootEntity == nil && mapping == nil
                && owner == nil && mismatchedValues == .fail
                && operations.isSuperset(of: [.insert, .update]) && !skipsInvalid && !identity.matchesContent
                && [.fail, .skip].contains(danglingReferences) && hooks.isEmpty && !insertsAbstractEntities
        }
    }

    extension ImportHooks {
        fileprivate var isEmpty: Bool {
            shouldImport.isEmpty && willImport.isEmpty && didImport.isEmpty && value.isEmpty && link.isEmpty
        }
    }

#else

    extension BatchImporter {
        /// Rows cannot be written through Core Data's public API.
        func importRows(
            _ source: ImportSource, entity: String?, model: ImportModel, progress: Progress?
        ) throws -> Result? { nil }
    }

#endif
