/// The published schema of this library's XML documents.
package enum XMLDocumentSchema {
    /// The namespace of all elements.
    package static let namespace = "urn:coral:graph:1"

    /// The schema, in RELAX NG's compact syntax.
    public static let text = #"""
        # Graph documents, version 1.
        default namespace = "urn:coral:graph:1"

        start = graph | changes | plain

        # A graph: records.
        graph = element graph { header?, object* }

        # The changes between two states of a graph. Each change is a tree: "insert", "update" or "delete" with the id,
        # "entity", "attributes" and "relationships".
        changes = element changes { header?, element change { tree }* }

        # A plain Swift value or object.
        plain = element tree { tree }

        # The header, as a tree: format, version, layout, ids, store, roots,
        # modelIdentifiers, entityHashes, metadata.
        header = element header { tree }

        # A record. Inside a relationship: a record that is met there first. Deleted ones are tombstones.
        object = element object {
            attribute entity { text },
            attribute id { text }?,
            attribute deleted { "true" }?,
            (attributeElement | relationship)*
        }

        # An attribute's value, by the type that the model declares; `type` stands where the value has another.
        attributeElement = element attribute { name, content }
        member = element member { name, content }
        name = attribute name { text }

        content =
            attribute null { "true" }
            | (attribute type {
                   "bool" | "integer" | "double" | "float" | "decimal" | "string" | "date" | "data" | "uuid" | "uri"
               }?, escaped?, text)
            | (attribute type { "composite" }, member*)
            | (attribute type { "transformable" },
               element archive { xsd:base64Binary }?, element readable { tree }?)
            | (attribute type { "file" }, attribute size { xsd:long }?, escaped?, text)
            # A file that did not exist, by the name that the store has for it.
            | (attribute type { "missing" }, escaped?, text)

        # Text that XML cannot hold: control characters, U+FFFE and U+FFFF as \uXXXX, the backslash doubled.
        escaped = attribute escaped { "true" }

        # To one: nothing (null), a reference or an object. To many: any number of them, or null.
        relationship = element relationship {
            name,
            attribute many { "true" }?,
            (attribute null { "true" } | (reference | object)*)
        }
        reference = element reference { attribute id { text } }

        # Plain values. Keys are escaped like text with escaped="true".
        tree =
            element array { tree* }
            | element dictionary { element entry { attribute key { text }?, tree }* }
            | element value { content }

        # Dates are ISO 8601 in UTC, or "@" and the seconds since 2001-01-01 where they have no calendar date.
        # Numbers that are none are "NaN", "Infinity", "-Infinity".
        """#
}
